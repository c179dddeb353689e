#include "engine/sqlite/rows.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "errand/codec.hpp"
#include "errand/errors.hpp"

#include "core/utf8.hpp"

namespace errand::sqlite {
namespace {

namespace json = boost::json;

[[noreturn]] void bad_column(const Statement& row, int column, const char* what) {
  throw ValidationException{std::string{"a stored task has "} + what + " `" +
                            std::string{row.text(column)} + "`"};
}

/// Empty for what is none: a task whose metadata somebody damaged is worth more than its metadata.
json::object parse_object(std::string_view text) {
  try {
    json::value value = parse_json(text);
    if (value.is_object()) return std::move(value.get_object());
  } catch (const ValidationException&) {
  }
  return {};
}

/// What is missing, of another kind or out of range counts as not said.
template <class Number>
Number number_or(const json::object& object, std::string_view name, Number fallback) {
  const json::value* member = object.if_contains(name);
  if (member == nullptr) return fallback;
  boost::system::error_code error;
  const auto number = member->to_number<Number>(error);
  return error ? fallback : number;
}

std::optional<Progress> read_progress(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  const json::object object = parse_object(row.text(column));
  Progress progress{
      number_or(object, "done", std::int64_t{0}), number_or(object, "total", std::int64_t{0}), {}};
  if (const json::value* note = object.if_contains("note"); note != nullptr && note->is_string()) {
    progress.note = std::string{note->get_string()};
  }
  return progress;
}

}  // namespace

Timestamp read_time(const Statement& row, int column) {
  const std::optional<Timestamp> time = parse_sql_time(row.text(column));
  if (!time) bad_column(row, column, "a time that is none:");
  return *time;
}

std::optional<Timestamp> read_optional_time(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return read_time(row, column);
}

TaskId read_task_id(const Statement& row, int column) {
  const std::optional<TaskId> id = TaskId::parse(row.text(column));
  if (!id) bad_column(row, column, "an id that is no UUID v4:");
  return *id;
}

TaskData read_task(const Statement& row, int first) {
  const std::optional<TaskStatus> status = parse_task_status(row.text(first + 1));
  if (!status) bad_column(row, first + 1, "an unknown status");
  return TaskData{.id = read_task_id(row, first),
                  .status = *status,
                  .payload = row.optional_text(first + 2),
                  .result = row.optional_text(first + 3),
                  .error = row.optional_text(first + 4),
                  .submitted_at = read_time(row, first + 5),
                  .started_at = read_optional_time(row, first + 6),
                  .completed_at = read_optional_time(row, first + 7),
                  .version = row.integer(first + 8)};
}

TaskRecord read_record(const Statement& row) {
  int column = kTaskColumnCount;
  TaskRecord record{.data = read_task(row)};
  record.type = row.text(column++);
  record.queue = row.optional_text(column++);
  record.priority = row.small_integer(column++);
  record.available_at = read_optional_time(row, column++);
  record.attempts = row.small_integer(column++);
  record.crashes = row.small_integer(column++);
  record.retry = read_retry_policy(row, column);
  column += 2;
  record.headers = read_headers(row, column++);
  record.worker = row.optional_text(column++);
  record.lease_expires_at = read_optional_time(row, column++);
  record.cancel_requested = row.integer(column++) != 0;
  record.progress = read_progress(row, column++);
  record.history = row.optional_text(column++);
  return record;
}

std::optional<std::string> retry_policy_column(const RetryPolicy& policy) {
  RetryPolicy defaults;
  defaults.max_retries = policy.max_retries;
  if (policy == defaults) return std::nullopt;
  return json::serialize(json::object{{"delay_ms", policy.delay.count()},
                                      {"multiplier", policy.multiplier},
                                      {"max_delay_ms", policy.max_delay.count()},
                                      {"jitter", policy.jitter}});
}

RetryPolicy read_retry_policy(const Statement& row, int max_retries_column) {
  RetryPolicy policy;
  policy.max_retries = row.small_integer(max_retries_column);
  if (row.is_null(max_retries_column + 1)) return policy;
  const json::object object = parse_object(row.text(max_retries_column + 1));
  policy.delay = std::chrono::milliseconds{number_or(object, "delay_ms", policy.delay.count())};
  policy.multiplier = number_or(object, "multiplier", policy.multiplier);
  policy.max_delay =
      std::chrono::milliseconds{number_or(object, "max_delay_ms", policy.max_delay.count())};
  policy.jitter = number_or(object, "jitter", policy.jitter);
  return policy;
}

std::optional<std::string> headers_column(const Headers& headers) {
  if (headers.empty()) return std::nullopt;
  json::object object;
  for (const auto& [name, value] : headers) object[name] = value;
  return json::serialize(object);
}

Headers read_headers(const Statement& row, int column) {
  Headers headers;
  if (row.is_null(column)) return headers;
  for (const auto& [name, value] : parse_object(row.text(column))) {
    headers.emplace(name,
                    value.is_string() ? std::string{value.get_string()} : json::serialize(value));
  }
  return headers;
}

std::string progress_column(const Progress& progress) {
  // In steps of this length: SQLite overwrites in place what keeps its length, and writes the whole
  // row, a large payload included, where the length changes.
  constexpr std::size_t kStep = 128;
  std::string text = json::serialize(json::object{{"done", progress.done},
                                                  {"total", progress.total},
                                                  {"note", detail::repair_utf8(progress.note)}});
  text.append(kStep - 1 - (text.size() - 1) % kStep, ' ');
  return text;
}

}  // namespace errand::sqlite
