#include "engine/postgres/rows.hpp"

#include "errand/errors.hpp"

#include "core/stored_json.hpp"

namespace errand::postgres {

TaskData read_task(const Result& result, int row) {
  const std::optional<TaskStatus> status = parse_task_status(result.text(row, 1));
  if (!status) {
    throw ValidationException{"a stored task has an unknown status `" +
                              std::string{result.text(row, 1)} + "`"};
  }
  return TaskData{.id = result.task_id(row, 0),
                  .status = *status,
                  .payload = result.optional_text(row, 2),
                  .result = result.optional_text(row, 3),
                  .error = result.optional_text(row, 4),
                  .submitted_at = result.time(row, 5),
                  .started_at = result.optional_time(row, 6),
                  .completed_at = result.optional_time(row, 7),
                  .version = result.integer(row, 8)};
}

std::string record_columns(Documents documents) {
  const std::string error = documents == Documents::none ? "NULL::text" : "error";
  const std::string task = documents == Documents::all
                               ? kTaskColumns
                               : "task_id, status, NULL::text, NULL::text, " + error +
                                     ", submitted_at, started_at, completed_at, version";
  return task +
         ", type, queue_name, priority, available_at, attempts, crashes, max_retries, "
         "retry_policy, headers, worker, lease_expires_at, cancel_requested, progress, " +
         (documents == Documents::all ? "history" : "NULL::text") + ", " + kExpired;
}

TaskRecord read_record(const Result& result, int row) {
  TaskRecord record{.data = read_task(result, row)};
  int column = 9;
  record.type = result.text(row, column++);
  record.queue = result.optional_text(row, column++);
  record.priority = result.small_integer(row, column++);
  record.available_at = result.optional_time(row, column++);
  record.attempts = result.small_integer(row, column++);
  record.crashes = result.small_integer(row, column++);
  const int max_retries = result.small_integer(row, column++);
  record.retry = detail::read_retry_policy(max_retries, result.optional_text(row, column++));
  record.headers = detail::read_headers(result.optional_text(row, column++));
  record.worker = result.optional_text(row, column++);
  record.lease_expires_at = result.optional_time(row, column++);
  record.cancel_requested = result.boolean(row, column++);
  record.progress = detail::read_progress(result.optional_text(row, column++));
  record.history = result.optional_text(row, column++);
  record.expired = result.boolean(row, column++);
  return record;
}

}  // namespace errand::postgres
