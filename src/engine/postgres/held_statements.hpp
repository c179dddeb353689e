#pragma once

/// The SQL around tasks that a bundle holds, away from the hot paths (decision 0040). Where there
/// are no bundles, all of this finds nothing to do at once.
namespace errand::postgres::sql {

/// The tasks that bundles hold, for a FROM; `bundles` may have a WHERE. Each is found by its
/// number: as a condition on async_tasks the server would now and then compare all that is pending
/// with each number, where its statistics say that there is little (decision 0046).
#define ERRAND_POSTGRES_HELD_TASKS(bundles)                                                       \
  "(SELECT task.* FROM (SELECT unnest(seqs) AS seq FROM " bundles                                 \
  ") held CROSS JOIN LATERAL (SELECT * FROM async_tasks WHERE status = 'pending' AND version = 1" \
  "  AND seq = held.seq OFFSET 0) task)"

/// A condition on async_tasks, where rows are looked at anyway: held by a bundle.
#define ERRAND_POSTGRES_HELD_OF_MANY                  \
  "(status COLLATE \"C\" = 'pending' AND version = 1" \
  " AND seq IN (SELECT unnest(seqs) FROM errand_bundles))"

// What the row of a held task says once it is running by itself; `h` is its bundle.
#define ERRAND_POSTGRES_RUNNING                                             \
  "status = 'running', version = t.version + 1, attempts = t.attempts + 1," \
  " started_at = greatest(h.claimed_at, t.submitted_at), worker = h.worker"

/// 1 task_ids. Those that a bundle holds become rows of their own, as if they had been claimed one
/// by one: the statements that follow need not know of bundles. Waits for who has locked one.
inline constexpr const char* kMaterialize =
    "UPDATE async_tasks t SET " ERRAND_POSTGRES_RUNNING R"(, lease_expires_at = h.lease_expires_at
FROM (SELECT unnest(seqs) AS seq, claimed_at, lease_expires_at, worker FROM errand_bundles) h
WHERE t.task_id = ANY ($1::uuid[]) AND t.seq = h.seq AND t.version = 1
  AND t.status COLLATE "C" = 'pending'
RETURNING t.task_id)";

/// What of a bundle became rows of their own before whoever made it had read it: 1 its id. The
/// columns of kReadBundle but for the last.
inline constexpr const char* kReadMaterialized = R"(
SELECT task_id, version, type, payload, priority, attempts, crashes, max_retries, retry_policy,
       headers, submitted_at, cancel_requested, available_at, seq
FROM async_tasks
WHERE status = 'running' AND version = 2
  AND worker = (SELECT worker FROM errand_bundles WHERE bundle = $1::uuid)
  AND seq IN (SELECT unnest(seqs) FROM errand_bundles WHERE bundle = $1::uuid))";

/// As kMaterialize, with a lease of their own: 1 task_ids, 2 lease in ms. Passes over locked rows.
inline constexpr const char* kMaterializeExtended = R"(
WITH unlocked AS MATERIALIZED (
  SELECT t.task_id, h.claimed_at, h.worker FROM async_tasks t,
    (SELECT unnest(seqs) AS seq, claimed_at, worker FROM errand_bundles) h
  WHERE t.task_id = ANY ($1::uuid[]) AND t.seq = h.seq AND t.version = 1
    AND t.status COLLATE "C" = 'pending'
  FOR NO KEY UPDATE OF t SKIP LOCKED)
UPDATE async_tasks t SET )" ERRAND_POSTGRES_RUNNING R"(,
  lease_expires_at = now() + $2::int8 * interval '1 ms'
FROM unlocked h
WHERE t.task_id = ANY (ARRAY(SELECT task_id FROM unlocked)) AND t.task_id = h.task_id
RETURNING t.task_id)";

/// The same of bundles whose lease has run out: 1 limit. Passes over locked rows, and over bundles
/// that somebody else is at.
inline constexpr const char* kMaterializeExpired = R"(
WITH expired AS MATERIALIZED (
  SELECT seqs, claimed_at, lease_expires_at, worker FROM errand_bundles
  WHERE lease_expires_at < now() FOR UPDATE SKIP LOCKED
), held AS MATERIALIZED (
  SELECT task.place, claimed_at, lease_expires_at, worker
  FROM (SELECT unnest(seqs) AS seq, claimed_at, lease_expires_at, worker FROM expired
        ORDER BY 1) h
  CROSS JOIN LATERAL (SELECT ctid AS place FROM async_tasks
                      WHERE status = 'pending' AND version = 1 AND seq = h.seq
                      FOR UPDATE SKIP LOCKED) task
  LIMIT $1::int8)
UPDATE async_tasks t SET )" ERRAND_POSTGRES_RUNNING R"(, lease_expires_at = h.lease_expires_at
FROM held h
WHERE t.ctid = ANY (ARRAY(SELECT place FROM held)) AND t.ctid = h.place AND t.version = 1
  AND t.status COLLATE "C" = 'pending')";

/// Bundles whose lease has run out and that hold nothing.
inline constexpr const char* kDropExpired = R"(
DELETE FROM errand_bundles WHERE bundle = ANY (ARRAY(
  SELECT bundle FROM errand_bundles b
  WHERE lease_expires_at < now() AND NOT EXISTS (
    SELECT 1 FROM unnest(b.seqs) AS held (seq) CROSS JOIN LATERAL (
      SELECT 1 FROM async_tasks WHERE status = 'pending' AND version = 1 AND seq = held.seq
      OFFSET 0) task)
  FOR UPDATE SKIP LOCKED)))";

}  // namespace errand::postgres::sql
