#include "engine/sqlite/rows.hpp"

#include "errand/errors.hpp"

#include "core/stored_json.hpp"

namespace errand::sqlite {
namespace {

[[noreturn]] void bad_column(const Statement& row, int column, const char* what) {
  throw ValidationException{std::string{"a stored task has "} + what + " `" +
                            std::string{row.text(column)} + "`"};
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
  const int max_retries = row.small_integer(column++);
  record.retry = detail::read_retry_policy(max_retries, row.optional_text(column++));
  record.headers = detail::read_headers(row.optional_text(column++));
  record.worker = row.optional_text(column++);
  record.lease_expires_at = read_optional_time(row, column++);
  record.cancel_requested = row.integer(column++) != 0;
  record.progress = detail::read_progress(row.optional_text(column++));
  record.history = row.optional_text(column++);
  return record;
}

std::string progress_column(const Progress& progress) {
  // In steps of this length: SQLite overwrites in place what keeps its length, and writes the whole
  // row, a large payload included, where the length changes.
  constexpr std::size_t kStep = 128;
  std::string text = detail::progress_json(progress);
  text.append(kStep - 1 - (text.size() - 1) % kStep, ' ');
  return text;
}

}  // namespace errand::sqlite
