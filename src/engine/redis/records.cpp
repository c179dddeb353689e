#include "engine/redis/records.hpp"

#include <charconv>
#include <map>
#include <string_view>

#include "errand/errors.hpp"

#include "core/stored_json.hpp"

namespace errand::redis {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

/// Far beyond all calendars, and still a number of microseconds.
constexpr std::int64_t kLastSecond = 1'000'000'000'000;

using Fields = std::map<std::string_view, Value>;

Fields fields_of(const Value& meta) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < meta.size(); i += 2) fields.emplace(meta[i].text(), meta[i + 1]);
  return fields;
}

Value field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? Value{nullptr} : found->second;
}

std::optional<Timestamp> optional_time(const Value& text) {
  if (text.is_nil()) return std::nullopt;
  return time_of(text.integer());
}

std::optional<std::string> history_json(const Value& entries) {
  if (entries.size() == 0) return std::nullopt;
  std::string json;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    json += i == 0 ? '[' : ',';
    json += entries[i].text();
  }
  return json + ']';
}

/// Whole seconds of others come after exact times of ours in the same second.
std::optional<Timestamp> not_before(const std::optional<Timestamp>& earlier,
                                    const std::optional<Timestamp>& time) {
  if (!earlier || !time || *time >= *earlier) return time;
  return std::chrono::floor<seconds>(*earlier) == *time ? earlier : time;
}

TaskData read_task(const Value& record, const Fields& fields) {
  const std::optional<TaskStatus> status = parse_task_status(record[1].text());
  if (!status) {
    throw ValidationException{"a stored task has an unknown status `" +
                              std::string{record[1].text()} + "`"};
  }
  const std::optional<Timestamp> submitted_at =
      read_time(record[5], optional_time(field(fields, "submitted_at")));
  if (!submitted_at) throw ValidationException{"a stored task has no submitted_at"};
  const std::optional<Timestamp> started_at =
      not_before(submitted_at, read_time(record[6], optional_time(field(fields, "started_at"))));
  return TaskData{.id = record[0].task_id(),
                  .status = *status,
                  .payload = record[2].optional_text(),
                  .result = record[3].optional_text(),
                  .error = record[4].optional_text(),
                  .submitted_at = *submitted_at,
                  .started_at = started_at,
                  .completed_at = not_before(
                      started_at ? started_at : submitted_at,
                      read_time(record[7], optional_time(field(fields, "completed_at")))),
                  .version = field(fields, "version").integer()};
}

}  // namespace

std::optional<Timestamp> read_time(const Value& whole, const std::optional<Timestamp>& exact) {
  if (whole.is_nil()) return std::nullopt;
  const std::string_view text = whole.text();
  std::int64_t second = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), second);
  if (error != std::errc{} || end != text.data() + text.size() || second > kLastSecond ||
      second < -kLastSecond) {
    throw ValidationException{"a stored task has a time that is not a number of seconds"};
  }
  const Timestamp rounded{seconds{second}};
  return exact && std::chrono::floor<seconds>(*exact) == rounded ? *exact : rounded;
}

TaskRecord read_record(const Value& record, Timestamp now, std::chrono::milliseconds ttl) {
  const Fields fields = fields_of(record[8]);
  TaskRecord task{.data = read_task(record, fields)};
  task.type = field(fields, "type").text();
  task.queue = field(fields, "queue").optional_text();
  task.priority = field(fields, "priority").small_integer();
  task.available_at = optional_time(field(fields, "available_at"));
  task.attempts = field(fields, "attempts").small_integer();
  task.crashes = field(fields, "crashes").small_integer();
  const Value max_retries = field(fields, "max_retries");
  task.retry = detail::read_retry_policy(
      max_retries.is_nil() ? RetryPolicy{}.max_retries : max_retries.small_integer(),
      field(fields, "retry_policy").optional_text());
  task.headers = detail::read_headers(field(fields, "headers").optional_text());
  task.worker = field(fields, "worker").optional_text();
  // The last one stays in meta when the attempt has ended.
  if (task.data.status == TaskStatus::running) {
    task.lease_expires_at = optional_time(field(fields, "lease_expires_at"));
  }
  task.cancel_requested = !field(fields, "cancel_requested").is_nil();
  task.progress = detail::read_progress(field(fields, "progress").optional_text());
  task.history = history_json(record[9]);
  task.expired = task.data.completed_at && *task.data.completed_at + ttl < now;
  return task;
}

}  // namespace errand::redis
