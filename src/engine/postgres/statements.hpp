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

/// A task by itself, without arrays, which it would wait for: 1 to 9 as kSubmit has them. A known
/// id is an error, as above.
inline constexpr const char* kSubmitOne = R"(
INSERT INTO async_tasks (task_id, status, payload, submitted_at, version,
                         queue_name, type, priority, available_at,
                         max_retries, retry_policy, headers)
VALUES ($1::uuid, 'pending', $2::text, now(), 1, $3::text, $4::text, $5::int8,
        now() + $6::int8 * interval '1 ms', $7::int8, $8::text, $9::text))";

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

/// Before a claim of many, which a COMMIT follows: it changes no rows, so that nobody else may take
/// the tasks it chooses meanwhile (decision 0040), and those of several workers would pass over
/// each other's (decision 0036). Waits for half a second at most. None of these statements has a
/// snapshot: while one with a snapshot waits, as a SELECT of an advisory lock would, the server
/// keeps what others leave behind.
inline constexpr std::array<const char*, 4> kTakeTurn{"BEGIN", "SET LOCAL lock_timeout = '500ms'",
                                                      "LOCK TABLE errand_turns IN EXCLUSIVE MODE",
                                                      "SET LOCAL lock_timeout = '2s'"};

/// Before all else that may change a pending task which is not in one's hands: no claim of many is
/// under way until the end of the transaction, and later statements see what the last one took.
/// There is nothing to delete; other than LOCK TABLE it needs no BEGIN.
#define ERRAND_POSTGRES_SHARE_TURNS "DELETE FROM errand_turns"
inline constexpr const char* kShareTurns = ERRAND_POSTGRES_SHARE_TURNS;

// What is waiting, as the indexes of claims have it.
#define ERRAND_POSTGRES_WAITING "status IN ('pending', 'retrying') AND crashes < 2"
#define ERRAND_POSTGRES_SUSPECT "crashes >= 2 AND status IN ('pending', 'retrying')"

// Neither is it held by a bundle: 1 queue_name.
#define ERRAND_POSTGRES_NOT_HELD \
  "(version <> 1 OR seq NOT IN (SELECT unnest(seqs) FROM errand_bundles WHERE queue_name = $1))"

// It can be held by one. Who has locked a row, or is about to change it, is left in its xmax.
#define ERRAND_POSTGRES_FRESH "version = 1 AND status COLLATE \"C\" = 'pending' AND xmax = 0"

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
, turns AS ()" ERRAND_POSTGRES_SHARE_TURNS R"()
, suspect AS MATERIALIZED (
  SELECT ctid FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_SUSPECT R"(
    AND available_at <= statement_timestamp()
  ORDER BY priority DESC, available_at, seq
  LIMIT least($2::int8, $3::int8) FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
  SELECT found.ctid FROM level CROSS JOIN LATERAL (
    SELECT ctid FROM async_tasks
    WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING " AND " ERRAND_POSTGRES_NOT_HELD R"(
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
    SELECT 1 FROM async_tasks
    WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING " AND " ERRAND_POSTGRES_NOT_HELD R"(
      AND priority = level.priority AND available_at <= statement_timestamp()
    LIMIT 1 FOR UPDATE SKIP LOCKED) found
  LIMIT 1)
SELECT CASE WHEN EXISTS (SELECT 1 FROM due) THEN 0
            ELSE )" ERRAND_POSTGRES_NEXT_DUE("$2::int8") R"( END
WHERE NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1))";

/// 1 queue_name, 2 limit, 3 priority, 4 lease in ms, 5 worker, 6 available_at, 7 seq: as kClaim, of
/// one level and after a place in it.
inline constexpr const char* kClaimAfter = R"(
WITH turns AS ()" ERRAND_POSTGRES_SHARE_TURNS R"(), chosen AS MATERIALIZED (
  SELECT ctid FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING " AND " ERRAND_POSTGRES_NOT_HELD R"(
    AND priority = $3::int8 AND available_at <= statement_timestamp()
    AND (available_at, seq) > ($6::timestamptz, $7::int8)
  ORDER BY available_at, seq LIMIT $2::int8 FOR UPDATE SKIP LOCKED
))" ERRAND_POSTGRES_CLAIM("SELECT ctid FROM chosen") ", 0::int8, 0::int8";

/// Stores what was chosen as a bundle: 1 queue_name, 4 lease in ms, 5 worker; `id` is the bundle's,
/// `scan_due_at` when a claim is to look from the beginning again. There is none where nothing was
/// chosen. What comes back: how many tasks, how long it took in microseconds, whether nobody else
/// holds a bundle, and in how many microseconds that look is due.
#define ERRAND_POSTGRES_BUNDLE(id, scan_due_at)                                            \
  " INSERT INTO errand_bundles (bundle, queue_name, worker, claimed_at, lease_expires_at," \
  " scan_due_at, priority, available_at, last_seq, seqs, places)"                          \
  " SELECT " id                                                                            \
  "::uuid, $1, $5, statement_timestamp(),"                                                 \
  " statement_timestamp() + $4::int8 * interval '1 ms', " scan_due_at                      \
  ", (array_agg(priority))[count(*)],"                                                     \
  " (array_agg(available_at))[count(*)], (array_agg(seq))[count(*)], array_agg(seq),"      \
  " array_agg(place) FROM chosen"                                                          \
  " WHERE NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1)"           \
  " AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'"                    \
  " HAVING count(*) > 0"                                                                   \
  " RETURNING cardinality(seqs),"                                                          \
  " (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8,"      \
  " NOT EXISTS (SELECT 1 FROM errand_bundles WHERE worker <> $5),"                         \
  " (extract(epoch FROM scan_due_at - statement_timestamp()) * 1000000)::int8"

/// After kTakeTurn: 1 to 5 as kClaim has them, 6 the bundle's id. Takes those of the tasks next in
/// order that nobody has tried yet. If they are fewer than the limit, the others are there to be
/// claimed one by one, or there are no more. The next look from the beginning is due after fifty
/// times as long as this one took, 100 ms to a second. If it was quick: at once, where more than
/// half of what is due was tried before and cannot be claimed otherwise; and a bundle of fewer than
/// 50, which is a small claim or the end of a backlog, says what those before it say.
inline constexpr const char* kBundle = "WITH RECURSIVE " ERRAND_POSTGRES_LEVELS R"(
, suspect AS (
  SELECT 1 FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_SUSPECT R"(
    AND available_at <= statement_timestamp()
  LIMIT least($2::int8, $3::int8)
), due AS MATERIALIZED (
  SELECT found.* FROM level CROSS JOIN LATERAL (
    SELECT ctid AS place, seq, priority, available_at, version > 1 AS tried,
           )" ERRAND_POSTGRES_FRESH R"( AS fresh
    FROM async_tasks
    WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING " AND " ERRAND_POSTGRES_NOT_HELD R"(
      AND priority = level.priority AND available_at <= statement_timestamp()
    ORDER BY available_at, seq LIMIT $2::int8) found
  LIMIT $2::int8 - (SELECT count(*) FROM suspect)
), chosen AS (SELECT * FROM due WHERE fresh))" ERRAND_POSTGRES_BUNDLE(
    "$6",
    "CASE WHEN clock_timestamp() - statement_timestamp() < interval '20 ms' THEN"
    "  CASE WHEN (SELECT count(*) FROM due WHERE tried) > $2::int8 / 2 THEN statement_timestamp()"
    "       WHEN count(*) < 50"
    "       THEN coalesce((SELECT max(scan_due_at) FROM errand_bundles"
    "                      WHERE queue_name = $1 AND claimed_at <= statement_timestamp()),"
    "                     statement_timestamp())"
    "       ELSE statement_timestamp() + greatest(interval '100 ms',"
    "              50 * (clock_timestamp() - statement_timestamp())) END"
    " ELSE statement_timestamp() + interval '1 s' END");

/// 1 to 7 as kClaimAfter has them, 8 the bundle's id: as kBundle, of one level and after the place
/// where the newest bundle of the queue ends; after the one given, if there is no bundle. Only
/// bundles that end behind it can hold tasks that are found there. Takes none if a look from the
/// beginning is due, as that bundle says; without one, 9 microseconds from now. A bundle that is
/// yet to be made, since a clock was put back, says nothing.
inline constexpr const char* kBundleAfter = R"(
WITH newest AS (
  (SELECT priority, available_at, last_seq, scan_due_at FROM errand_bundles
   WHERE queue_name = $1 AND claimed_at <= statement_timestamp()
   ORDER BY claimed_at DESC LIMIT 1)
  UNION ALL SELECT $3::int8, $6::timestamptz, $7::int8,
                   statement_timestamp() + $9::int8 * interval '1 us' LIMIT 1
), start AS MATERIALIZED (
  SELECT * FROM newest WHERE scan_due_at > statement_timestamp()
), chosen AS MATERIALIZED (
  SELECT ctid AS place, seq, priority, available_at FROM async_tasks
  WHERE queue_name = $1 AND )" ERRAND_POSTGRES_WAITING " AND " ERRAND_POSTGRES_FRESH R"(
    AND priority = (SELECT priority FROM start) AND available_at <= statement_timestamp()
    AND (available_at, seq) > ((SELECT available_at FROM start), (SELECT last_seq FROM start))
    AND seq NOT IN (
      SELECT unnest(b.seqs) FROM errand_bundles b, start s
      WHERE b.queue_name = $1 AND (b.priority < s.priority OR b.priority = s.priority
        AND (b.available_at, b.last_seq) > (s.available_at, s.last_seq)))
  ORDER BY available_at, seq LIMIT $2::int8
))" ERRAND_POSTGRES_BUNDLE("$8", "(SELECT scan_due_at FROM start)");

/// What is in a bundle, in any order: 1 its id. The columns of kClaim up to seq, then where each
/// row is. One that somebody has changed or moved since is left out: it is not claimed.
inline constexpr const char* kReadBundle = R"(
SELECT task_id, version + 1, type, payload, priority, attempts + 1, crashes, max_retries,
       retry_policy, headers, submitted_at, cancel_requested, available_at, seq, ctid
FROM async_tasks
WHERE ctid = ANY (ARRAY(SELECT unnest(places) FROM errand_bundles WHERE bundle = $1::uuid))
  AND seq IN (SELECT unnest(seqs) FROM errand_bundles WHERE bundle = $1::uuid)
  AND version = 1 AND status COLLATE "C" = 'pending')";

#undef ERRAND_POSTGRES_BUNDLE
#undef ERRAND_POSTGRES_CLAIM
#undef ERRAND_POSTGRES_NEXT_DUE
#undef ERRAND_POSTGRES_LEVELS
#undef ERRAND_POSTGRES_FRESH
#undef ERRAND_POSTGRES_NOT_HELD
#undef ERRAND_POSTGRES_SUSPECT
#undef ERRAND_POSTGRES_WAITING
#undef ERRAND_POSTGRES_SHARE_TURNS

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

/// Completes tasks of one bundle, straight from pending: 1 the bundle's id; arrays: 2 where their
/// rows were, 3 task_id, 4 result. One that is not there any more, or not held by the bundle, is
/// left alone.
inline constexpr const char* kCompleteBundled = R"(
UPDATE async_tasks t
SET status = 'completed', result = s.result, version = t.version + 2, attempts = t.attempts + 1,
    started_at = greatest(t.submitted_at,
                          (SELECT claimed_at FROM errand_bundles WHERE bundle = $1::uuid)),
    completed_at = greatest(now(), t.submitted_at,
                            (SELECT claimed_at FROM errand_bundles WHERE bundle = $1::uuid)),
    worker = (SELECT worker FROM errand_bundles WHERE bundle = $1::uuid)
FROM unnest($3::uuid[], $4::text[]) AS s (task_id, result)
WHERE t.ctid = ANY ($2::tid[]) AND t.task_id = s.task_id AND t.version = 1
  AND t.status COLLATE "C" = 'pending'
  AND EXISTS (SELECT 1 FROM errand_bundles WHERE bundle = $1::uuid)
RETURNING t.task_id)";

/// 1 bundles' ids. For those in which no task is held any more.
inline constexpr const char* kDropBundles =
    "DELETE FROM errand_bundles WHERE bundle = ANY ($1::uuid[])";

}  // namespace errand::postgres::sql
