#pragma once

#include <array>

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
       (SELECT now() + $6::int8 * interval '1 ms'), $7::int8, $8::text, n.headers
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
// stands the status by another collation, which no index has: the same statistics may say that no
// task is running, and an index on the status then looks shorter than the array.

/// Before a claim of many, which a COMMIT follows: those of several workers at a time would pass
/// over each other's rows, lock some of them nevertheless, and so hold up who settles them
/// (decision 0036). Waits for half a second at most. None of these statements has a snapshot: while
/// one with a snapshot waits, as a SELECT of an advisory lock would, the server keeps what others
/// leave behind.
inline constexpr std::array<const char*, 4> kTakeTurn{"BEGIN", "SET LOCAL lock_timeout = '500ms'",
                                                      "LOCK TABLE errand_turns IN EXCLUSIVE MODE",
                                                      "SET LOCAL lock_timeout = '2s'"};

// What is waiting, as the indexes of claims have it.
#define ERRAND_POSTGRES_WAITING "status IN ('pending', 'retrying') AND crashes < 2"
#define ERRAND_POSTGRES_SUSPECT "crashes >= 2 AND status IN ('pending', 'retrying')"

/// The levels of priority at which tasks of a queue wait: 1 queue_name. They are walked one by one:
/// delayed tasks of one level stay out of the way of the next.
#define ERRAND_POSTGRES_LEVELS                                                                 \
  "level (priority) AS ("                                                                      \
  " (SELECT priority FROM async_tasks WHERE queue_name = $1 AND " ERRAND_POSTGRES_WAITING      \
  "  ORDER BY priority DESC LIMIT 1)"                                                          \
  " UNION ALL"                                                                                 \
  " SELECT (SELECT t.priority FROM async_tasks t"                                              \
  "         WHERE t.queue_name = $1 AND t.status IN ('pending', 'retrying') AND t.crashes < 2" \
  "           AND t.priority < level.priority ORDER BY t.priority DESC LIMIT 1)"               \
  " FROM level WHERE level.priority IS NOT NULL)"

/// When the next task of these levels is due; `suspects`: how many suspects may be claimed then.
#define ERRAND_POSTGRES_NEXT_DUE(suspects)                                                       \
  "(SELECT (extract(epoch FROM least("                                                           \
  "  (SELECT min(next.available_at) FROM level CROSS JOIN LATERAL ("                             \
  "     SELECT available_at FROM async_tasks WHERE queue_name = $1 AND " ERRAND_POSTGRES_WAITING \
  "       AND priority = level.priority AND available_at > statement_timestamp()"                \
  "     ORDER BY available_at LIMIT 1) next),"                                                   \
  "  (SELECT min(available_at) FROM async_tasks WHERE queue_name = $1 "                          \
  "AND " ERRAND_POSTGRES_SUSPECT "     AND available_at > statement_timestamp() AND " suspects   \
  " > 0))"                                                                                       \
  "  - statement_timestamp()) * 1000000)::int8)"

/// Claims rows by where they are: 1 queue_name, 4 lease in ms, 5 worker. Nobody waits until a claim
/// is on the disk (decision 0033). By the time of the statement, not of the transaction, which may
/// have waited for its turn first. What is the same for all rows is a SELECT, which is run once.
#define ERRAND_POSTGRES_CLAIM(places)                                                             \
  " UPDATE async_tasks t SET status = 'running', version = version + 1, attempts = attempts + 1," \
  " started_at = greatest(statement_timestamp(), submitted_at),"                                  \
  " lease_expires_at = (SELECT statement_timestamp() + $4::int8 * interval '1 ms'),"              \
  " worker = $5, progress = NULL"                                                                 \
  " WHERE t.ctid = ANY (ARRAY(" places                                                            \
  "))"                                                                                            \
  " AND NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1)"                    \
  " AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'"                           \
  " RETURNING t.task_id, t.version, t.type, t.payload, t.priority, t.attempts, t.crashes,"        \
  " t.max_retries, t.retry_policy, t.headers, t.submitted_at, t.cancel_requested,"                \
  " t.available_at, t.seq"

/// 1 queue_name, 2 limit, 3 of these at most so many suspects, 4 lease in ms, 5 worker.
///
/// The last columns, the same in each row: the time in microseconds until the next waiting task is
/// due, where fewer than the limit were there; and how long it took to choose. Where as many were
/// there as wanted, but one has changed in between and is left out, that time is 0. Without any
/// claim there is no row; kNextDue tells then.
inline constexpr const char* kClaim = "WITH RECURSIVE " ERRAND_POSTGRES_LEVELS R"(
, suspect AS MATERIALIZED (
  SELECT ctid FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_SUSPECT R"(
    AND available_at <= statement_timestamp()
  ORDER BY priority DESC, available_at, seq
  LIMIT least($2::int8, $3::int8) FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
  SELECT found.ctid FROM level CROSS JOIN LATERAL (
    SELECT ctid FROM async_tasks
    WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING R"(
      AND priority = level.priority AND available_at <= statement_timestamp()
    ORDER BY available_at, seq LIMIT $2::int8 FOR UPDATE SKIP LOCKED) found
  LIMIT $2::int8 - (SELECT count(*) FROM suspect)
))" ERRAND_POSTGRES_CLAIM("SELECT ctid FROM suspect UNION ALL SELECT ctid FROM due") R"(,
  CASE WHEN (SELECT count(*) FROM suspect) + (SELECT count(*) FROM due) < $2::int8
       THEN )" ERRAND_POSTGRES_NEXT_DUE("$3::int8 - (SELECT count(*) FROM suspect)") R"(
       ELSE 0 END,
  (SELECT (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8))";

/// 1 queue_name, 2 how many suspects may be claimed. The time in microseconds until the next
/// waiting task is due; NULL where there is none, or the queue is paused. 0 where one is due that
/// nobody has locked: it changed while a claim went by, or came just then.
inline constexpr const char* kNextDue = "WITH RECURSIVE " ERRAND_POSTGRES_LEVELS R"(
, due AS MATERIALIZED (
  SELECT 1 FROM level CROSS JOIN LATERAL (
    SELECT 1 FROM async_tasks WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING R"(
      AND priority = level.priority AND available_at <= statement_timestamp()
    LIMIT 1 FOR UPDATE SKIP LOCKED) found
  LIMIT 1)
SELECT CASE WHEN EXISTS (SELECT 1 FROM due) THEN 0
            ELSE )" ERRAND_POSTGRES_NEXT_DUE("$2::int8") R"( END
WHERE NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1))";

/// 1 queue_name, 2 limit, 3 priority, 4 lease in ms, 5 worker, 6 available_at, 7 seq: as kClaim, of
/// one level and after a place in it.
inline constexpr const char* kClaimAfter = R"(
WITH chosen AS MATERIALIZED (
  SELECT ctid FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING R"(
    AND priority = $3::int8 AND available_at <= statement_timestamp()
    AND (available_at, seq) > ($6::timestamptz, $7::int8)
  ORDER BY available_at, seq LIMIT $2::int8 FOR UPDATE SKIP LOCKED
))" ERRAND_POSTGRES_CLAIM("SELECT ctid FROM chosen") ", 0::int8, 0::int8";

#undef ERRAND_POSTGRES_CLAIM
#undef ERRAND_POSTGRES_NEXT_DUE
#undef ERRAND_POSTGRES_LEVELS
#undef ERRAND_POSTGRES_SUSPECT
#undef ERRAND_POSTGRES_WAITING

/// Arrays: 1 task_id, 2 version, 3 result.
inline constexpr const char* kComplete = R"(
UPDATE async_tasks t
SET status = 'completed', result = s.result, error = NULL,
    completed_at = greatest(now(), t.started_at), version = t.version + 1,
    lease_expires_at = NULL, progress = NULL
FROM unnest($1::uuid[], $2::int8[], $3::text[]) AS s (task_id, version, result)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status COLLATE "C" = 'running'
RETURNING t.task_id)";

}  // namespace errand::postgres::sql
