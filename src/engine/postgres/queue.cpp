#include "engine/postgres/queue.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "errand/errors.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "core/stored_json.hpp"
#include "core/worker_lost.hpp"
#include "engine/postgres/settle.hpp"
#include "engine/postgres/statements.hpp"
#include "engine/postgres/submit.hpp"

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;

static_assert(kSuspectCrashes == 2, "the statements and two partial indexes say so, too");

/// 1 queue_name, 2 whether suspects count. In microseconds from now.
constexpr const char* kNextDue = R"(
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
)
SELECT (extract(epoch FROM least(
    (SELECT min(found.available_at) FROM level CROSS JOIN LATERAL (
       SELECT available_at FROM async_tasks
       WHERE queue_name = $1 AND status IN ('pending', 'retrying') AND crashes < 2
         AND priority = level.priority AND available_at > now()
       ORDER BY available_at LIMIT 1) found),
    (SELECT min(available_at) FROM async_tasks
     WHERE $2::bool AND queue_name = $1 AND status IN ('pending', 'retrying') AND crashes >= 2
       AND available_at > now())
  ) - now()) * 1000000)::int8
WHERE NOT EXISTS (SELECT 1 FROM errand_paused_queues WHERE queue_name = $1))";

/// Arrays: 1 task_id, 2 version; 3 lease in ms.
constexpr const char* kExtend = R"(
UPDATE async_tasks t SET lease_expires_at = now() + $3::int8 * interval '1 ms'
FROM unnest($1::uuid[], $2::int8[]) AS s (task_id, version)
WHERE t.task_id = s.task_id AND t.version = s.version AND t.status = 'running'
RETURNING t.task_id, t.version, t.cancel_requested)";

/// Arrays: 1 task_id, 2 version, 3 progress.
constexpr const char* kProgress = R"(
UPDATE async_tasks t SET progress = s.progress
FROM unnest($1::uuid[], $2::int8[], $3::text[]) AS s (task_id, version, progress)
WHERE t.task_id = s.task_id AND t.version = s.version AND t.status = 'running')";

/// 1 task_id array. Locked in one order, so that two callers cannot wait for each other.
constexpr const char* kLock = R"(
SELECT task_id, status FROM async_tasks WHERE task_id = ANY ($1::uuid[])
ORDER BY task_id FOR UPDATE)";

constexpr const char* kCancelWaiting = R"(
UPDATE async_tasks
SET status = 'cancelled', version = version + 1,
    completed_at = greatest(now(), coalesce(started_at, submitted_at))
WHERE task_id = ANY ($1::uuid[]) AND status IN ('pending', 'retrying'))";

constexpr const char* kRequestCancel = R"(
UPDATE async_tasks SET cancel_requested = true
WHERE task_id = ANY ($1::uuid[]) AND status = 'running')";

/// 1 limit.
constexpr const char* kExpiredLeases = R"(
SELECT task_id, version, queue_name, worker, crashes, cancel_requested FROM async_tasks
WHERE status = 'running' AND lease_expires_at < now()
ORDER BY lease_expires_at LIMIT $1::int8 FOR UPDATE SKIP LOCKED)";

constexpr const char* kAnyExpiredLease = R"(
SELECT EXISTS (SELECT 1 FROM async_tasks WHERE status = 'running' AND lease_expires_at < now()))";

constexpr const char* kRequeue = R"(
UPDATE async_tasks
SET status = 'pending', version = version + 1, result = NULL, error = NULL, started_at = NULL,
    completed_at = NULL, available_at = now(), attempts = 0, crashes = 0,
    cancel_requested = false, worker = NULL, progress = NULL
WHERE task_id = ANY ($1::uuid[]) AND status IN ('failed', 'cancelled') AND queue_name IS NOT NULL)";

constexpr const char* kDiscard = R"(
DELETE FROM async_tasks
WHERE task_id = ANY ($1::uuid[]) AND status IN ('completed', 'failed', 'cancelled')
RETURNING task_id)";

/// 1 ttl in ms, 2 task_id array. Nothing for those that are not final; a NULL status for those
/// that are not there.
constexpr const char* kFinished = R"(
SELECT w.task_id, t.status,
       coalesce(t.completed_at + $1::int8 * interval '1 ms' < now(), false), t.result, t.error
FROM unnest($2::uuid[]) AS w (task_id) LEFT JOIN async_tasks t USING (task_id)
WHERE t.status IS NULL OR t.status IN ('completed', 'failed', 'cancelled'))";

constexpr const char* kPause = R"(
INSERT INTO errand_paused_queues (queue_name, paused_at)
SELECT unnest($1::text[]), now() ON CONFLICT (queue_name) DO NOTHING)";

constexpr const char* kResume =
    "DELETE FROM errand_paused_queues WHERE queue_name = ANY ($1::text[])";

Query for_tasks(const char* sql, std::span<const TaskId> ids) {
  Query query{sql};
  query.parameters.add(ids);
  return query;
}

/// RETURNING gives rows in any order; this holds what they were chosen by.
struct Ranked {
  Claim claim;
  Timestamp available_at;
  std::int64_t seq;
};

Ranked read_claim(const Result& result, int row, const std::string& queue) {
  const int max_retries = result.small_integer(row, 7);
  return Ranked{
      .claim = Claim{.lease = Lease{result.task_id(row, 0), result.integer(row, 1)},
                     .envelope = Envelope{std::string{result.text(row, 2)},
                                          std::string{result.text(row, 3)},
                                          detail::read_headers(result.optional_text(row, 9))},
                     .queue = queue,
                     .priority = result.small_integer(row, 4),
                     .attempt = result.small_integer(row, 5),
                     .crashes = result.small_integer(row, 6),
                     .retry = detail::read_retry_policy(max_retries, result.optional_text(row, 8)),
                     .submitted_at = result.time(row, 10),
                     .cancel_requested = result.boolean(row, 11)},
      .available_at = result.time(row, 12),
      .seq = result.integer(row, 13)};
}

std::vector<Ranked> claim_of_queue(Connection& connection, const ClaimRequest& request,
                                   const std::string& queue, std::size_t limit,
                                   std::size_t suspects) {
  Query query{sql::kClaim};
  query.parameters.add(queue)
      .add(static_cast<std::int64_t>(limit))
      .add(static_cast<std::int64_t>(suspects))
      .add(std::int64_t{request.lease.count()})
      .add(request.worker);
  const Result result = connection.run(std::move(query));
  std::vector<Ranked> found;
  found.reserve(static_cast<std::size_t>(result.rows()));
  for (int row = 0; row < result.rows(); ++row) found.push_back(read_claim(result, row, queue));
  std::sort(found.begin(), found.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.claim.priority, a.available_at, a.seq) <
           std::tie(a.claim.priority, b.available_at, b.seq);
  });
  return found;
}

}  // namespace

void Queue::submit(std::span<const NewTask> tasks) {
  if (tasks.empty()) return;
  for (const NewTask& task : tasks) validate(task);
  database_.write([&](Connection& connection, Changes& changes) {
    connection.run(submit_query(tasks));
    for (const NewTask& task : tasks) {
      // Batches are mostly of one queue; a name that comes twice does no harm.
      if (changes.queues.empty() || changes.queues.back() != task.queue) {
        changes.queues.push_back(task.queue);
      }
    }
    return true;
  });
}

ClaimBatch Queue::claim(const ClaimRequest& request) {
  ClaimBatch batch;
  std::size_t suspects_left = request.suspects;
  for (const std::string& queue : request.queues) {
    const std::size_t room = request.limit - batch.claims.size();
    if (room == 0) break;
    // A transaction for each queue: what was claimed of the first one is ours, whatever happens
    // with the next.
    std::vector<Ranked> found;
    try {
      found = database_.write([&](Connection& connection, Changes&) {
        return claim_of_queue(connection, request, queue, room, suspects_left);
      });
    } catch (const StorageException&) {
      if (batch.claims.empty()) throw;
      return batch;
    }
    for (Ranked& ranked : found) {
      if (ranked.claim.crashes >= kSuspectCrashes && suspects_left > 0) --suspects_left;
      batch.claims.push_back(std::move(ranked.claim));
    }
  }
  if (batch.claims.size() < request.limit) batch.next_due = next_due(request, suspects_left > 0);
  return batch;
}

std::optional<milliseconds> Queue::next_due(const ClaimRequest& request, bool with_suspects) {
  std::vector<Query> queries;
  for (const std::string& queue : request.queues) {
    Query query{kNextDue};
    query.parameters.add(queue).add(with_suspects);
    queries.push_back(std::move(query));
  }
  std::optional<milliseconds> next;
  try {
    for (const Result& result :
         database_.read([&](Connection& connection) { return connection.run(queries); })) {
      if (result.rows() == 0 || result.is_null(0, 0)) continue;
      const auto due =
          std::chrono::ceil<milliseconds>(std::chrono::microseconds{result.integer(0, 0)});
      next = next ? std::min(*next, due) : due;
    }
  } catch (const StorageException&) {
    // What was claimed counts for more than when to ask again.
  }
  return next;
}

std::vector<LeaseState> Queue::extend(std::span<const Lease> leases, milliseconds lease) {
  if (leases.empty()) return {};
  std::vector<TaskId> ids;
  std::vector<std::int64_t> versions;
  for (const Lease& held : leases) {
    ids.push_back(held.id);
    versions.push_back(held.version);
  }
  const std::lock_guard lock{held_rows_};
  return database_.write([&](Connection& connection, Changes&) {
    Query query = for_tasks(kExtend, ids);
    query.parameters.add(std::span<const std::int64_t>{versions}).add(std::int64_t{lease.count()});
    const Result result = connection.run(std::move(query));
    struct Held {
      std::int64_t version;
      bool cancel_requested;
    };
    std::unordered_map<TaskId, Held> held;
    for (int row = 0; row < result.rows(); ++row) {
      held.emplace(result.task_id(row, 0), Held{result.integer(row, 1), result.boolean(row, 2)});
    }
    std::vector<LeaseState> states;
    states.reserve(leases.size());
    for (const Lease& asked : leases) {
      const auto found = held.find(asked.id);
      const bool lost = found == held.end() || found->second.version != asked.version;
      states.push_back({.lease = asked,
                        .lost = lost,
                        .cancel_requested = !lost && found->second.cancel_requested});
    }
    return states;
  });
}

std::vector<SettleStatus> Queue::settle(std::span<const Settlement> settlements) {
  if (settlements.empty()) return {};
  bool once_each = true;
  std::unordered_set<TaskId> ids;
  for (const Settlement& settlement : settlements) {
    if (const auto* completed = std::get_if<Completed>(&settlement.outcome)) {
      detail::check_document("result", completed->result, kMaxDocumentBytes);
    }
    once_each = ids.insert(settlement.lease.id).second && once_each;
  }
  const std::lock_guard lock{held_rows_};
  const auto settle = [&](Connection& connection, Changes& changes) {
    return Settler{connection, changes}.settle(settlements);
  };
  return once_each ? database_.write(settle) : database_.write_in_steps(settle);
}

void Queue::report_progress(std::span<const ProgressReport> reports) {
  if (reports.empty()) return;
  // Of several for one attempt the last one counts.
  std::map<std::pair<TaskId, std::int64_t>, const Progress*> newest;
  for (const ProgressReport& report : reports) {
    newest[{report.lease.id, report.lease.version}] = &report.progress;
  }
  std::vector<TaskId> ids;
  std::vector<std::int64_t> versions;
  std::vector<std::string> texts;
  for (const auto& [lease, progress] : newest) {
    ids.push_back(lease.first);
    versions.push_back(lease.second);
    texts.push_back(detail::progress_json(*progress));
  }
  const std::lock_guard lock{held_rows_};
  database_.write([&](Connection& connection, Changes&) {
    Query query = for_tasks(kProgress, ids);
    query.parameters.add(std::span<const std::int64_t>{versions})
        .add(std::span<const std::string>{texts});
    return connection.run(std::move(query));
  });
}

std::vector<CancelStatus> Queue::cancel(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.write([&](Connection& connection, Changes& changes) {
    std::vector<Query> queries;
    queries.push_back(for_tasks(kLock, ids));
    queries.push_back(for_tasks(kCancelWaiting, ids));
    queries.push_back(for_tasks(kRequestCancel, ids));
    const std::vector<Result> results = connection.run(queries);
    std::unordered_map<TaskId, TaskStatus> before;
    for (int row = 0; row < results[0].rows(); ++row) {
      if (const auto status = parse_task_status(results[0].text(row, 1))) {
        before.emplace(results[0].task_id(row, 0), *status);
      }
    }
    std::vector<CancelStatus> statuses;
    statuses.reserve(ids.size());
    for (const TaskId& id : ids) {
      const auto found = before.find(id);
      if (found == before.end()) {
        statuses.push_back(CancelStatus::not_found);
      } else if (is_waiting(found->second)) {
        statuses.push_back(CancelStatus::cancelled);
        changes.final_tasks.push_back(id);
        found->second = TaskStatus::cancelled;  // for one that is named twice
      } else if (is_final(found->second)) {
        statuses.push_back(CancelStatus::already_final);
      } else {
        statuses.push_back(CancelStatus::requested);
        changes.cancellation = true;
      }
    }
    return statuses;
  });
}

std::vector<Rescued> Queue::rescue(const RescueRequest& request) {
  // Looking takes no locks, and there is hardly ever anything to do.
  const bool any = database_.read(
      [](Connection& connection) { return connection.run(Query{kAnyExpiredLease}).boolean(0, 0); });
  if (!any) return {};
  return database_.write_in_steps([&](Connection& connection, Changes& changes) {
    Query query{kExpiredLeases};
    query.parameters.add(static_cast<std::int64_t>(request.limit));
    const Result result = connection.run(std::move(query));
    std::vector<Loss> losses;
    std::vector<Rescued> rescued;
    for (int row = 0; row < result.rows(); ++row) {
      const TaskId id = result.task_id(row, 0);
      const std::string worker{result.text(row, 3)};
      const int crashes = result.small_integer(row, 4) + 1;
      const TaskStatus status =
          detail::after_lost_worker(crashes, request.max_crashes, result.boolean(row, 5));
      losses.push_back(
          {Lease{id, result.integer(row, 1)}, status, detail::worker_lost(worker, crashes)});
      rescued.push_back({.id = id,
                         .queue = std::string{result.text(row, 2)},
                         .worker = worker,
                         .status = status});
    }
    Settler{connection, changes}.rescue(losses);
    return rescued;
  });
}

std::size_t Queue::requeue(std::span<const TaskId> ids) {
  if (ids.empty()) return 0;
  return database_.write([&](Connection& connection, Changes& changes) {
    const std::size_t count = connection.run(for_tasks(kRequeue, ids)).affected();
    changes.work = count > 0;
    return count;
  });
}

std::size_t Queue::discard(std::span<const TaskId> ids) {
  if (ids.empty()) return 0;
  return database_.write([&](Connection& connection, Changes& changes) {
    const Result result = connection.run(for_tasks(kDiscard, ids));
    for (int row = 0; row < result.rows(); ++row) {
      changes.final_tasks.push_back(result.task_id(row, 0));
    }
    return changes.final_tasks.size();
  });
}

std::vector<Finish> Queue::finished(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.read([&](Connection& connection) {
    Query query{kFinished};
    query.parameters.add(std::int64_t{database_.ttl().count()}).add(ids);
    const Result result = connection.run(std::move(query));
    std::vector<Finish> finishes;
    finishes.reserve(static_cast<std::size_t>(result.rows()));
    for (int row = 0; row < result.rows(); ++row) {
      Finish finish{.id = result.task_id(row, 0), .kind = Finish::Kind::unknown};
      if (!result.is_null(row, 1)) {
        finish.kind = result.boolean(row, 2) ? Finish::Kind::expired : Finish::Kind::finished;
      }
      if (finish.kind == Finish::Kind::finished) {
        finish.status = parse_task_status(result.text(row, 1)).value_or(TaskStatus::failed);
        finish.result = result.optional_text(row, 3);
        finish.error = result.optional_text(row, 4);
      }
      finishes.push_back(std::move(finish));
    }
    return finishes;
  });
}

void Queue::pause(std::span<const std::string> queues) {
  for (const std::string& queue : queues) detail::check_label("queue", queue);
  database_.write([&](Connection& connection, Changes&) {
    Query query{kPause};
    query.parameters.add(queues);
    return connection.run(std::move(query));
  });
}

void Queue::resume(std::span<const std::string> queues) {
  for (const std::string& queue : queues) detail::check_label("queue", queue);
  database_.write([&](Connection& connection, Changes& changes) {
    Query query{kResume};
    query.parameters.add(queues);
    changes.queues.assign(queues.begin(), queues.end());
    return connection.run(std::move(query));
  });
}

}  // namespace errand::postgres
