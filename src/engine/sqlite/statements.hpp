#pragma once

/// The SQL of the hot paths, shared by the engine and by the benchmark's bare loop, which measures
/// what SQLite itself gives for exactly these statements. Times are to_sql_time() texts.
namespace errand::sqlite::sql {

/// 1 task_id, 2 payload, 3 submitted_at, 4 queue_name, 5 type, 6 priority, 7 available_at,
/// 8 max_retries, 9 retry_policy, 10 headers. A known id is left alone: repeating is safe.
inline constexpr const char* kSubmit = R"(
INSERT INTO async_tasks (task_id, status, payload, submitted_at, version,
                         queue_name, type, priority, available_at,
                         max_retries, retry_policy, headers)
VALUES (?1, 'pending', ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (task_id) DO NOTHING)";

/// As kSubmit; 3 is not used. A record that waits in no queue joins one.
inline constexpr const char* kAdopt = R"(
UPDATE async_tasks
SET payload = ?2, version = version + 1, queue_name = ?4, type = ?5, priority = ?6,
    available_at = ?7, max_retries = ?8, retry_policy = ?9, headers = ?10
WHERE task_id = ?1 AND status = 'pending' AND queue_name IS NULL)";

/// 1 queue_name, 2 only priorities below this. The highest one that has waiting tasks, or NULL:
/// going from level to level keeps delayed tasks of one level out of the way of the next.
inline constexpr const char* kNextPriority = R"(
SELECT max(priority) FROM async_tasks INDEXED BY idx_claimable
WHERE status IN ('pending', 'retrying') AND crashes < 2 AND queue_name = ?1 AND priority < ?2)";

/// 1 now, 2 lease_expires_at, 3 worker, 4 queue_name, 5 priority, 6 limit. One statement, so that
/// choosing and taking cannot come apart. The clock may have gone back since the submit.
inline constexpr const char* kClaim = R"(
UPDATE async_tasks
SET status = 'running', version = version + 1, attempts = attempts + 1,
    started_at = max(?1, submitted_at), lease_expires_at = ?2, worker = ?3, progress = NULL
WHERE rowid IN (SELECT rowid FROM async_tasks INDEXED BY idx_claimable
                WHERE status IN ('pending', 'retrying') AND crashes < 2
                  AND queue_name = ?4 AND priority = ?5 AND available_at <= ?1
                ORDER BY available_at, rowid LIMIT ?6)
RETURNING task_id, version, type, payload, queue_name, priority, attempts, crashes,
          max_retries, retry_policy, headers, submitted_at, cancel_requested, available_at, rowid)";

/// As kClaim, from the suspects, of any priority: 5 is unused.
inline constexpr const char* kClaimSuspects = R"(
UPDATE async_tasks
SET status = 'running', version = version + 1, attempts = attempts + 1,
    started_at = max(?1, submitted_at), lease_expires_at = ?2, worker = ?3, progress = NULL
WHERE rowid IN (SELECT rowid FROM async_tasks INDEXED BY idx_suspects
                WHERE status IN ('pending', 'retrying') AND crashes >= 2
                  AND queue_name = ?4 AND available_at <= ?1
                ORDER BY priority DESC, available_at, rowid LIMIT ?6)
RETURNING task_id, version, type, payload, queue_name, priority, attempts, crashes,
          max_retries, retry_policy, headers, submitted_at, cancel_requested, available_at, rowid)";

/// 1 task_id, 2 version, 3 result, 4 now.
inline constexpr const char* kComplete = R"(
UPDATE async_tasks
SET status = 'completed', result = ?3, error = NULL, completed_at = max(?4, started_at),
    version = version + 1, lease_expires_at = NULL, progress = NULL
WHERE task_id = ?1 AND version = ?2 AND status = 'running')";

/// 1 task_id, 2 version, 3 lease_expires_at.
inline constexpr const char* kExtend = R"(
UPDATE async_tasks SET lease_expires_at = ?3
WHERE task_id = ?1 AND version = ?2 AND status = 'running'
RETURNING cancel_requested)";

/// 1 now, 2 limit.
inline constexpr const char* kExpiredLeases = R"(
SELECT task_id, version, queue_name, worker, crashes, cancel_requested
FROM async_tasks INDEXED BY idx_status
WHERE status = 'running' AND lease_expires_at < ?1 LIMIT ?2)";

/// 1 task_id.
inline constexpr const char* kFinished =
    "SELECT status, result, error, completed_at FROM async_tasks WHERE task_id = ?1";

}  // namespace errand::sqlite::sql
