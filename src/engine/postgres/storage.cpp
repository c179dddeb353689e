#include "engine/postgres/storage.hpp"

#include <span>
#include <vector>

#include "errand/errors.hpp"

#include "core/move_status.hpp"
#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/rows.hpp"
#include "engine/postgres/statements.hpp"

namespace errand::postgres {
namespace {

/// 1 task_id, 2 status, 3 payload, 4 result, 5 error, 6 submitted_at, 7 started_at, 8 completed_at.
/// The queue's columns stay, but for the lease: whoever held it has lost it.
constexpr const char* kSave = R"(
INSERT INTO async_tasks AS t (task_id, status, payload, result, error,
                              submitted_at, started_at, completed_at, version)
VALUES ($1::uuid, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz, $8::timestamptz, 1)
ON CONFLICT (task_id) DO UPDATE
SET status = excluded.status, payload = excluded.payload, result = excluded.result,
    error = excluded.error, submitted_at = excluded.submitted_at,
    started_at = excluded.started_at, completed_at = excluded.completed_at,
    version = t.version + 1, lease_expires_at = NULL, cancel_requested = false)";

/// The same for a record that was loaded at 9 version.
constexpr const char* kSaveVersion = R"(
UPDATE async_tasks
SET status = $2, payload = $3, result = $4, error = $5, submitted_at = $6::timestamptz,
    started_at = $7::timestamptz, completed_at = $8::timestamptz, version = version + 1,
    lease_expires_at = NULL, cancel_requested = false
WHERE task_id = $1::uuid AND version = $9::int8)";

constexpr const char* kVersion = "SELECT version FROM async_tasks WHERE task_id = $1::uuid";

/// 1 ttl in ms, 2 task_id.
const std::string kLoad = std::string{"SELECT "} + kTaskColumns + ", " + kExpired +
                          " FROM errand_tasks WHERE task_id = $2::uuid";

const std::string kLoadForUpdate = std::string{"SELECT "} + kTaskColumns +
                                   ", now() FROM async_tasks WHERE task_id = $1::uuid FOR UPDATE";

/// 1 task_id, 2 status, 3 started_at, 4 completed_at. A status that others set ends the lease.
constexpr const char* kUpdateStatus = R"(
UPDATE async_tasks
SET status = $2, started_at = $3::timestamptz, completed_at = $4::timestamptz,
    version = version + 1, lease_expires_at = NULL, cancel_requested = false
WHERE task_id = $1::uuid)";

constexpr const char* kRemove = "DELETE FROM async_tasks WHERE task_id = $1::uuid";

/// 1 before, 2 batch. Only final tasks have a completed_at.
constexpr const char* kDeleteExpired = R"(
DELETE FROM async_tasks
WHERE task_id = ANY (ARRAY(SELECT task_id FROM async_tasks
                           WHERE completed_at IS NOT NULL AND completed_at < $1::timestamptz
                           ORDER BY completed_at LIMIT $2 FOR UPDATE SKIP LOCKED)))";

void note(Changes& changes, const TaskData& task) {
  if (is_final(task.status)) changes.final_tasks.push_back(task.id);
  if (is_waiting(task.status)) changes.work = true;
}

/// To be run before a statement that changes this task: it has a row of its own then, and keeps it.
std::vector<Query> before_changing(TaskId id) {
  std::vector<Query> queries;
  queries.push_back(Query{sql::kShareTurns});
  queries.push_back(Query{sql::kMaterialize});
  queries.back().parameters.add(std::span<const TaskId>{&id, 1});
  return queries;
}

Parameters columns_of(const TaskData& task) {
  Parameters parameters;
  parameters.add(task.id)
      .add(to_string(task.status))
      .add(task.payload)
      .add(task.result)
      .add(task.error)
      .add(task.submitted_at)
      .add(task.started_at)
      .add(task.completed_at);
  return parameters;
}

}  // namespace

void Storage::save(const TaskData& task) {
  validate(task);
  database_.write([&](Connection& connection, Changes& changes) {
    Query query{task.version ? kSaveVersion : kSave, columns_of(task)};
    if (task.version) query.parameters.add(*task.version);
    std::vector<Query> queries = before_changing(task.id);
    queries.push_back(std::move(query));
    if (connection.run(queries).back().affected() == 0) {
      Query version{kVersion};
      version.parameters.add(task.id);
      const Result found = connection.run(std::move(version));
      detail::refuse_stale(task,
                           found.rows() > 0 ? std::optional{found.integer(0, 0)} : std::nullopt);
    }
    note(changes, task);
    return true;
  });
}

std::optional<TaskData> Storage::load(TaskId id) {
  return database_.read([&](Connection& connection) -> std::optional<TaskData> {
    Query query{kLoad.c_str()};
    query.parameters.add(std::int64_t{database_.ttl().count()}).add(id);
    const Result result = connection.run(std::move(query));
    if (result.rows() == 0) return std::nullopt;
    TaskData task = read_task(result, 0);
    validate(task);
    if (result.boolean(0, 9)) return std::nullopt;
    return task;
  });
}

void Storage::update_status(TaskId id, TaskStatus status,
                            std::optional<std::int64_t> expected_version) {
  database_.write_in_steps([&](Connection& connection, Changes& changes) {
    Query query{kLoadForUpdate.c_str()};
    query.parameters.add(id);
    std::vector<Query> queries = before_changing(id);
    queries.push_back(std::move(query));
    const Result row = std::move(connection.run(queries).back());
    if (row.rows() == 0) throw TaskNotFoundException{id};
    TaskData task = read_task(row, 0);
    const Timestamp now = row.time(0, 9);
    detail::move_status(task, status, expected_version, now);
    Query update{kUpdateStatus};
    update.parameters.add(id).add(to_string(status)).add(task.started_at).add(task.completed_at);
    connection.run(std::move(update));
    note(changes, task);
    return true;
  });
}

void Storage::remove(TaskId id) {
  database_.write([&](Connection& connection, Changes& changes) {
    Query query{kRemove};
    query.parameters.add(id);
    if (connection.run(std::move(query)).affected() > 0) changes.final_tasks.push_back(id);
    return true;
  });
}

std::size_t Storage::delete_expired_tasks(Timestamp before) {
  std::size_t deleted = 0;
  while (true) {
    const std::size_t batch = database_.write([&](Connection& connection, Changes&) {
      Query query{kDeleteExpired};
      query.parameters.add(before).add(std::int64_t{kExpiryBatch});
      return connection.run(std::move(query)).affected();
    });
    deleted += batch;
    if (batch < kExpiryBatch) return deleted;
  }
}

}  // namespace errand::postgres
