#pragma once

/// The SQL of the hot paths, shared by the engine and by the benchmark's bare loop, which measures
/// what the server itself gives for exactly these statements.
namespace errand::postgres::sql {

/// Arrays: 1 task_id, 2 payload, 3 queue_name, 4 type, 5 priority, 6 delay in ms, 7 max_retries,
/// 8 retry_policy, 9 headers. A known id is left alone: repeating is safe.
inline constexpr const char* kSubmit = R"(
INSERT INTO async_tasks (task_id, status, payload, submitted_at, version,
                         queue_name, type, priority, available_at,
                         max_retries, retry_policy, headers)
SELECT n.task_id, 'pending', n.payload, now(), 1, n.queue_name, n.type, n.priority,
       now() + n.delay_ms * interval '1 ms', n.max_retries, n.retry_policy, n.headers
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::int8[],
            $7::int8[], $8::text[], $9::text[])
     AS n (task_id, payload, queue_name, type, priority, delay_ms,
           max_retries, retry_policy, headers)
ON CONFLICT (task_id) DO NOTHING)";

/// Tasks that differ in their ids, payloads and headers only: 1 task_id, 2 payload and 9 headers
/// are arrays, the others as in kSubmit, for all. A known id is an error (a unique violation):
/// looking for one before each row is what makes kSubmit slower (decision 0032).
inline constexpr const char* kSubmitAlike = R"(
INSERT INTO async_tasks (task_id, status, payload, submitted_at, version,
                         queue_name, type, priority, available_at,
                         max_retries, retry_policy, headers)
SELECT n.task_id, 'pending', n.payload, now(), 1, $3::text, $4::text, $5::int8,
       now() + $6::int8 * interval '1 ms', $7::int8, $8::text, n.headers
FROM unnest($1::uuid[], $2::text[], $9::text[]) AS n (task_id, payload, headers))";

/// As kSubmit. Records that wait in no queue join one.
inline constexpr const char* kAdopt = R"(
UPDATE async_tasks t
SET payload = n.payload, version = t.version + 1, queue_name = n.queue_name, type = n.type,
    priority = n.priority, available_at = now() + n.delay_ms * interval '1 ms',
    max_retries = n.max_retries, retry_policy = n.retry_policy, headers = n.headers
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::int8[],
            $7::int8[], $8::text[], $9::text[])
     AS n (task_id, payload, queue_name, type, priority, delay_ms,
           max_retries, retry_policy, headers)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = n.task_id
  AND t.status = 'pending' AND t.queue_name IS NULL)";

// Rows are addressed by `task_id = ANY (array)` even where a join would do: after a burst the
// server's statistics may say that the table is empty, and a join then reads all of it. Beside it
// stands `status || ''`, which no index has: the same statistics may say that no task is running,
// and an index on the status then looks shorter than the array.

/// Claims the tasks of `chosen`: 1 queue_name, 4 lease in ms, 5 worker. Nobody waits until a claim
/// is on the disk (decision 0033). By the time of the statement, not of the transaction, which may
/// have waited for its turn first.
#define ERRAND_POSTGRES_CLAIMED                                                                    \
  ", claimed AS (UPDATE async_tasks t SET status = 'running', version = version + 1,"              \
  " attempts = attempts + 1, started_at = greatest(statement_timestamp(), submitted_at),"          \
  " lease_expires_at = statement_timestamp() + $4::int8 * interval '1 ms', worker = $5, progress " \
  "= NULL"                                                                                         \
  " WHERE t.task_id = ANY (ARRAY(SELECT task_id FROM chosen))"                                     \
  " AND NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1)"                     \
  " AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'"                            \
  " RETURNING t.task_id, t.version, t.type, t.payload, t.priority, t.attempts, t.crashes,"         \
  " t.max_retries, t.retry_policy, t.headers, t.submitted_at, t.cancel_requested,"                 \
  " t.available_at, t.seq)"

/// 1 queue_name. Before a claim of many: those of several workers at a time would pass over each
/// other's rows, lock some of them nevertheless, and so hold up who settles them (decision 0036).
/// Waits for half a second at most.
inline constexpr const char* kTakeTurn =
    "SELECT set_config('lock_timeout', '500ms', true),"
    " pg_advisory_xact_lock('async_tasks'::regclass::oid::int4, hashtext($1::text)),"
    " set_config('lock_timeout', '2s', true)";

/// 1 queue_name, 2 limit, 3 of these at most so many suspects, 4 lease in ms, 5 worker. The levels
/// of priority are walked one by one: delayed tasks of one level stay out of the way of the next.
///
/// The last columns are the time in microseconds until the next waiting task is due, where fewer
/// than the limit were claimed, and how long all this took; if none was claimed they have their own
/// row.
inline constexpr const char* kClaim = R"(
WITH RECURSIVE level (priority) AS (
  (SELECT priority FROM async_tasks
   WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes < 2
   ORDER BY priority DESC LIMIT 1)
  UNION ALL
  SELECT (SELECT t.priority FROM async_tasks t
          WHERE t.queue_name = $1 AND t.status IN ('pending', 'retrying') AND t.crashes < 2
            AND t.priority < level.priority
          ORDER BY t.priority DESC LIMIT 1)
  FROM level WHERE level.priority IS NOT NULL
), suspect AS MATERIALIZED (
  SELECT task_id FROM async_tasks
  WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes >= 2
    AND available_at <= statement_timestamp()
  ORDER BY priority DESC, available_at, seq
  LIMIT least($2::int8, $3::int8) FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
  SELECT found.task_id FROM level CROSS JOIN LATERAL (
    SELECT task_id FROM async_tasks
    WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes < 2
      AND priority = level.priority AND available_at <= statement_timestamp()
    ORDER BY available_at, seq LIMIT $2::int8 FOR UPDATE SKIP LOCKED) found
  LIMIT $2::int8 - (SELECT count(*) FROM suspect)
), chosen AS (SELECT task_id FROM suspect UNION ALL SELECT task_id FROM due))" ERRAND_POSTGRES_CLAIMED
                                      R"(
SELECT claimed.*, wait.us,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8
FROM (
  SELECT CASE WHEN (SELECT count(*) FROM claimed) < $2::int8
    AND NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1)
  THEN (extract(epoch FROM least(
      (SELECT min(next.available_at) FROM level CROSS JOIN LATERAL (
         SELECT available_at FROM async_tasks
         WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes < 2
           AND priority = level.priority AND available_at > statement_timestamp()
         ORDER BY available_at LIMIT 1) next),
      (SELECT min(available_at) FROM async_tasks
       WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes >= 2
         AND available_at > statement_timestamp() AND $3::int8 > (SELECT count(*) FROM suspect))
    ) - statement_timestamp()) * 1000000)::int8 END AS us) wait
LEFT JOIN claimed ON true)";

/// 1 queue_name, 2 limit, 3 priority, 4 lease in ms, 5 worker, 6 available_at, 7 seq: as kClaim, of
/// one level and after a place in it.
inline constexpr const char* kClaimAfter = R"(
WITH chosen AS MATERIALIZED (
  SELECT task_id FROM async_tasks
  WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes < 2
    AND priority = $3::int8 AND available_at <= statement_timestamp()
    AND (available_at, seq) > ($6::timestamptz, $7::int8)
  ORDER BY available_at, seq LIMIT $2::int8 FOR UPDATE SKIP LOCKED
))" ERRAND_POSTGRES_CLAIMED R"(
SELECT claimed.*, NULL::int8, 0::int8 FROM claimed)";

#undef ERRAND_POSTGRES_CLAIMED

/// Arrays: 1 task_id, 2 version, 3 result.
inline constexpr const char* kComplete = R"(
UPDATE async_tasks t
SET status = 'completed', result = s.result, error = NULL,
    completed_at = greatest(now(), t.started_at), version = t.version + 1,
    lease_expires_at = NULL, progress = NULL
FROM unnest($1::uuid[], $2::int8[], $3::text[]) AS s (task_id, version, result)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status || '' = 'running'
RETURNING t.task_id)";

}  // namespace errand::postgres::sql
