#include "engine/sqlite/storage.hpp"

#include "errand/errors.hpp"

#include "core/move_status.hpp"
#include "engine/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kVersion = "SELECT version FROM async_tasks WHERE task_id = ?1";

/// 1 task_id, 2 status, 3 payload, 4 result, 5 error, 6 submitted_at, 7 started_at,
/// 8 completed_at. The queue's columns stay, but for the lease: whoever held it has lost it.
constexpr const char* kSave = R"(
INSERT INTO async_tasks (task_id, status, payload, result, error,
                         submitted_at, started_at, completed_at, version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)
ON CONFLICT (task_id) DO UPDATE
SET status = excluded.status, payload = excluded.payload, result = excluded.result,
    error = excluded.error, submitted_at = excluded.submitted_at,
    started_at = excluded.started_at, completed_at = excluded.completed_at,
    version = version + 1, lease_expires_at = NULL, cancel_requested = 0)";

const std::string kLoad =
    std::string{"SELECT "} + kTaskColumns + " FROM async_tasks WHERE task_id = ?1";

/// 1 task_id, 2 status, 3 started_at, 4 completed_at. A status that others set ends the lease.
constexpr const char* kUpdateStatus = R"(
UPDATE async_tasks
SET status = ?2, started_at = ?3, completed_at = ?4, version = version + 1,
    lease_expires_at = NULL, cancel_requested = 0
WHERE task_id = ?1)";

constexpr const char* kRemove = "DELETE FROM async_tasks WHERE task_id = ?1";

/// 1 before, 2 batch. Only final tasks have a completed_at.
constexpr const char* kDeleteExpired = R"(
DELETE FROM async_tasks
WHERE rowid IN (SELECT rowid FROM async_tasks INDEXED BY idx_completed_at
                WHERE completed_at IS NOT NULL AND completed_at < ?1 LIMIT ?2))";

std::optional<std::string> time_column(const std::optional<Timestamp>& time) {
  if (!time) return std::nullopt;
  return to_sql_time(*time);
}

void tell(Changes& changes, const TaskData& task) {
  if (is_final(task.status)) changes.final_tasks.push_back(task.id);
  if (is_waiting(task.status)) changes.work = true;
}

}  // namespace

void Storage::save(const TaskData& task) {
  validate(task);
  const std::string id = task.id.to_string();
  const std::string submitted_at = to_sql_time(task.submitted_at);
  const auto started_at = time_column(task.started_at);
  const auto completed_at = time_column(task.completed_at);
  database_.write([&](Connection& connection, Changes& changes) {
    if (task.version) {
      Statement& version = connection.prepare(kVersion).bind(1, id);
      const bool found = version.step();
      if (!found || version.integer(0) != *task.version) {
        detail::refuse_stale(task, found ? std::optional{version.integer(0)} : std::nullopt);
      }
      version.reset();
    }
    connection.prepare(kSave)
        .bind(1, id)
        .bind(2, to_string(task.status))
        .bind(3, task.payload)
        .bind(4, task.result)
        .bind(5, task.error)
        .bind(6, submitted_at)
        .bind(7, started_at)
        .bind(8, completed_at)
        .run();
    tell(changes, task);
    return true;
  });
}

std::optional<TaskData> Storage::load(TaskId id) {
  const std::string key = id.to_string();
  std::optional<TaskData> task = database_.read([&](Connection& connection) {
    std::optional<TaskData> found;
    Statement& row = connection.prepare(kLoad.c_str()).bind(1, key);
    if (row.step()) {
      found = read_task(row);
      row.reset();
    }
    return found;
  });
  if (!task) return std::nullopt;
  validate(*task);
  if (database_.is_expired(task->completed_at)) return std::nullopt;
  return task;
}

void Storage::update_status(TaskId id, TaskStatus status,
                            std::optional<std::int64_t> expected_version) {
  const std::string key = id.to_string();
  const Timestamp now = database_.now();
  database_.write([&](Connection& connection, Changes& changes) {
    Statement& row = connection.prepare(kLoad.c_str()).bind(1, key);
    if (!row.step()) throw TaskNotFoundException{id};
    TaskData task = read_task(row);
    row.reset();
    detail::move_status(task, status, expected_version, now);
    const auto started_at = time_column(task.started_at);
    const auto completed_at = time_column(task.completed_at);
    connection.prepare(kUpdateStatus)
        .bind(1, key)
        .bind(2, to_string(status))
        .bind(3, started_at)
        .bind(4, completed_at)
        .run();
    tell(changes, task);
    return true;
  });
}

void Storage::remove(TaskId id) {
  const std::string key = id.to_string();
  database_.write([&](Connection& connection, Changes& changes) {
    connection.prepare(kRemove).bind(1, key).run();
    if (connection.changes() > 0) changes.final_tasks.push_back(id);
    return true;
  });
}

std::size_t Storage::delete_expired_tasks(Timestamp before) {
  const std::string limit = to_sql_time(before);
  std::size_t deleted = 0;
  while (true) {
    const std::size_t batch = database_.write([&](Connection& connection, Changes&) {
      connection.prepare(kDeleteExpired)
          .bind(1, limit)
          .bind(2, static_cast<std::int64_t>(kExpiryBatch))
          .run();
      return static_cast<std::size_t>(connection.changes());
    });
    deleted += batch;
    if (batch < kExpiryBatch) return deleted;
  }
}

}  // namespace errand::sqlite
