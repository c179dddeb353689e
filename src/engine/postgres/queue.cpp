#include "engine/postgres/queue.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <unordered_map>

#include "errand/errors.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "core/stored_json.hpp"
#include "core/worker_lost.hpp"
#include "engine/postgres/held_statements.hpp"
#include "engine/postgres/settle.hpp"
#include "engine/postgres/statements.hpp"
#include "engine/postgres/submit.hpp"

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;

/// Arrays: 1 task_id, 2 version; 3 lease in ms. A row that somebody has locked is left alone, so
/// that the leases of the others do not run out meanwhile; neither does anybody rescue it.
constexpr const char* kExtend = R"(
WITH unlocked AS MATERIALIZED (
  SELECT t.task_id FROM async_tasks t, unnest($1::uuid[], $2::int8[]) AS s (task_id, version)
  WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
    AND t.status COLLATE "C" = 'running'
  FOR NO KEY UPDATE OF t SKIP LOCKED)
UPDATE async_tasks SET lease_expires_at = now() + $3::int8 * interval '1 ms'
WHERE task_id = ANY (ARRAY(SELECT task_id FROM unlocked)))";

/// As the view errand_tasks has them, which looks into the bundles for each task by itself.
constexpr const char* kHeld = R"(
SELECT task_id, CASE WHEN status = 'running' THEN version ELSE version + 1 END, cancel_requested
FROM async_tasks
WHERE task_id = ANY ($1::uuid[])
  AND (status COLLATE "C" = 'running' OR )" ERRAND_POSTGRES_HELD_OF_MANY ")";

constexpr const char* kHeldBy = R"(
SELECT task_id, version FROM async_tasks
WHERE status = 'running' AND worker = $1 AND lease_expires_at IS NOT NULL
UNION ALL
SELECT task_id, version + 1 FROM )" ERRAND_POSTGRES_HELD_TASKS(
    "errand_bundles WHERE worker = $1") " AS held";

/// Arrays: 1 task_id, 2 version, 3 progress.
constexpr const char* kProgress = R"(
UPDATE async_tasks t SET progress = s.progress
FROM unnest($1::uuid[], $2::int8[], $3::text[]) AS s (task_id, version, progress)
WHERE t.task_id = ANY ($1::uuid[]) AND t.task_id = s.task_id AND t.version = s.version
  AND t.status COLLATE "C" = 'running')";

/// 1 task_id array. Locked in one order, so that two callers cannot wait for each other.
constexpr const char* kLock = R"(
SELECT task_id, status FROM async_tasks WHERE task_id = ANY ($1::uuid[])
ORDER BY task_id FOR UPDATE)";

constexpr const char* kCancelWaiting = R"(
UPDATE async_tasks
SET status = 'cancelled', version = version + 1,
    completed_at = greatest(now(), coalesce(started_at, submitted_at))
WHERE task_id = ANY ($1::uuid[]) AND status COLLATE "C" IN ('pending', 'retrying'))";

constexpr const char* kRequestCancel = R"(
UPDATE async_tasks SET cancel_requested = true
WHERE task_id = ANY ($1::uuid[]) AND status COLLATE "C" = 'running')";

/// 1 limit.
constexpr const char* kExpiredLeases = R"(
SELECT task_id, version, queue_name, worker, crashes, cancel_requested FROM async_tasks
WHERE status = 'running' AND lease_expires_at < now()
ORDER BY lease_expires_at LIMIT $1::int8 FOR UPDATE SKIP LOCKED)";

/// With the lock of those who change leases, so that it waits where they do.
constexpr const char* kAnyExpiredLease = R"(
WITH writable AS (UPDATE async_tasks SET version = version WHERE false)
SELECT EXISTS (SELECT 1 FROM async_tasks WHERE status = 'running' AND lease_expires_at < now())
       OR EXISTS (SELECT 1 FROM errand_bundles WHERE lease_expires_at < now()))";

constexpr const char* kRequeue = R"(
UPDATE async_tasks
SET status = 'pending', version = version + 1, result = NULL, error = NULL, started_at = NULL,
    completed_at = NULL, available_at = now(), attempts = 0, crashes = 0,
    cancel_requested = false, worker = NULL, progress = NULL
WHERE task_id = ANY ($1::uuid[]) AND status COLLATE "C" IN ('failed', 'cancelled') AND queue_name IS NOT NULL)";

constexpr const char* kDiscard = R"(
DELETE FROM async_tasks
WHERE task_id = ANY ($1::uuid[]) AND status COLLATE "C" IN ('completed', 'failed', 'cancelled')
RETURNING task_id)";

/// 1 ttl in ms, 2 task_id array. Nothing for those that are not final; a NULL status for those
/// that are not there.
constexpr const char* kFinished = R"(
SELECT w.task_id, t.status,
       coalesce(t.completed_at + $1::int8 * interval '1 ms' < now(), false), t.result, t.error
FROM unnest($2::uuid[]) AS w (task_id)
LEFT JOIN async_tasks t ON t.task_id = ANY ($2::uuid[]) AND t.task_id = w.task_id
WHERE t.status IS NULL OR t.status IN ('completed', 'failed', 'cancelled'))";

constexpr const char* kPause = R"(
INSERT INTO errand_paused_queues (queue_name, paused_at)
SELECT unnest($1::text[]), now() ON CONFLICT (queue_name) DO NOTHING)";

constexpr const char* kResume =
    "DELETE FROM errand_paused_queues WHERE queue_name = ANY ($1::text[])";

/// So many outcomes are stored as two halves at the same time, by two processes of the server,
/// where no other worker keeps it busy (decision 0040).
constexpr std::size_t kSettleApartFrom = 200;

Query for_tasks(const char* sql, std::span<const TaskId> ids) {
  Query query{sql};
  query.parameters.add(ids);
  return query;
}

std::vector<Lease> bundled_leases(const Result& result) {
  std::vector<Lease> leases;
  for (int row = 0; row < result.rows(); ++row) {
    leases.push_back({result.task_id(row, 0), kBundledVersion});
  }
  return leases;
}

}  // namespace

std::size_t Queue::submit(std::span<const NewTask> tasks) {
  if (tasks.empty()) return 0;
  for (const NewTask& task : tasks) validate(task);
  try {
    return store(tasks, submit_new_queries(tasks));
  } catch (const UniqueViolation&) {
    return store(tasks, submit_queries(tasks));
  }
}

void Queue::adopt(std::span<const NewTask> tasks) {
  if (tasks.empty()) return;
  for (const NewTask& task : tasks) validate(task);
  store(tasks, adopt_queries(tasks));
}

std::size_t Queue::store(std::span<const NewTask> tasks, std::vector<Query> queries) {
  return database_.write([&](Connection& connection, Changes& changes) {
    std::size_t stored = 0;
    for (const Result& result : connection.run(queries)) stored += result.affected();
    for (const NewTask& task : tasks) {
      // Batches are mostly of one queue; a name that comes twice does no harm.
      if (changes.queues.empty() || changes.queues.back() != task.queue) {
        changes.queues.push_back(task.queue);
      }
    }
    return stored;
  });
}

std::vector<LeaseState> Queue::extend(std::span<const Lease> leases, milliseconds lease) {
  if (leases.empty()) return {};
  std::vector<TaskId> ids;
  std::vector<std::int64_t> versions;
  std::vector<TaskId> bundled;  // or it may be
  for (const Lease& held : leases) {
    ids.push_back(held.id);
    versions.push_back(held.version);
    if (held.version == kBundledVersion) bundled.push_back(held.id);
  }
  return database_.write([&](Connection& connection, Changes&) {
    std::vector<Query> queries = database_.transaction_settings();
    queries.push_back(for_tasks(kExtend, ids));
    queries.back()
        .parameters.add(std::span<const std::int64_t>{versions})
        .add(std::int64_t{lease.count()});
    queries.push_back(for_tasks(sql::kMaterializeExtended, bundled));
    queries.back().parameters.add(std::int64_t{lease.count()});
    queries.push_back(for_tasks(kHeld, ids));
    const std::vector<Result> results = connection.run(queries);
    bundles_.forget(bundled_leases(results.end()[-2]));
    const Result& result = results.back();
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

std::vector<Lease> Queue::held_by(const std::string& worker) {
  return database_.read([&](Connection& connection) {
    Query query{kHeldBy};
    query.parameters.add(worker);
    const Result result = connection.run(std::move(query));
    std::vector<Lease> leases;
    for (int row = 0; row < result.rows(); ++row) {
      leases.push_back({result.task_id(row, 0), result.integer(row, 1)});
    }
    return leases;
  });
}

std::vector<SettleStatus> Queue::settle(std::span<const Settlement> settlements) {
  if (settlements.empty()) return {};
  for (const Settlement& settlement : settlements) {
    if (const auto* completed = std::get_if<Completed>(&settlement.outcome)) {
      detail::check_document("result", completed->result, kMaxDocumentBytes);
    }
  }
  const std::lock_guard lock{held_rows_};
  std::vector<SettleStatus> statuses = store_outcomes(settlements, false);
  // Held by a bundle, but not where this process thought, or of another process's claim.
  std::vector<std::size_t> missed;
  std::vector<Settlement> again;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i] == SettleStatus::settled || settlements[i].lease.version != kBundledVersion) {
      continue;
    }
    missed.push_back(i);
    again.push_back(settlements[i]);
  }
  if (!again.empty()) {
    try {
      const std::vector<SettleStatus> second = store_outcomes(again, true);
      for (std::size_t i = 0; i < missed.size(); ++i) statuses[missed[i]] = second[i];
    } catch (const Error& error) {
      if (again.size() == settlements.size()) throw;
      throw StorageException{error.what(), StorageException::Retry::in_doubt};
    }
  }
  std::vector<Lease> ended;
  ended.reserve(settlements.size());
  for (const Settlement& settlement : settlements) ended.push_back(settlement.lease);
  bundles_.forget(ended);
  drop_last_bundles();
  return statuses;
}

void Queue::drop_last_bundles() {
  const std::vector<TaskId> spent = bundles_.take_last_spent();
  if (spent.empty()) return;
  try {
    database_.write([&](Connection& connection, Changes&) {
      return connection.run(for_tasks(sql::kDropBundles, spent));
    });
  } catch (const StorageException&) {
    // They hold nothing; in the end somebody rescues that.
  }
}

std::vector<SettleStatus> Queue::store_outcomes(std::span<const Settlement> settlements,
                                                bool materialize) {
  std::vector<TaskId> ids;
  ids.reserve(settlements.size());
  for (const Settlement& settlement : settlements) ids.push_back(settlement.lease.id);
  std::ranges::sort(ids);
  const bool once_each = std::ranges::adjacent_find(ids) == ids.end();
  // Of two outcomes for one task the first counts: none may be left for a second look.
  const bool by_id = materialize || !once_each;
  const auto settle = [&](std::span<const Settlement> part) {
    return [&, part](Connection& connection, Changes& changes) {
      return Settler{connection, changes, database_.transaction_settings(), bundles_}.settle(
          part, once_each, by_id);
    };
  };
  if (!once_each) return database_.write_in_steps(settle(settlements));
  if (settlements.size() < kSettleApartFrom || !bundles_.alone()) {
    return database_.write(settle(settlements));
  }
  const std::size_t half = settlements.size() / 2;
  auto later = std::async(std::launch::async,
                          [&] { return database_.write(settle(settlements.subspan(half))); });
  try {
    std::vector<SettleStatus> statuses = database_.write(settle(settlements.first(half)));
    const std::vector<SettleStatus> rest = later.get();
    statuses.insert(statuses.end(), rest.begin(), rest.end());
    return statuses;
  } catch (const Error& error) {
    // The other half may be stored.
    throw StorageException{error.what(), StorageException::Retry::in_doubt};
  }
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
  std::vector<TaskId> bundled;  // or it may be
  for (const auto& [lease, progress] : newest) {
    ids.push_back(lease.first);
    versions.push_back(lease.second);
    texts.push_back(detail::progress_json(*progress));
    if (lease.second == kBundledVersion) bundled.push_back(lease.first);
  }
  const std::lock_guard lock{held_rows_};
  database_.write([&](Connection& connection, Changes&) {
    std::vector<Query> queries;
    queries.push_back(for_tasks(sql::kMaterialize, bundled));
    queries.push_back(for_tasks(kProgress, ids));
    queries.back()
        .parameters.add(std::span<const std::int64_t>{versions})
        .add(std::span<const std::string>{texts});
    return connection.run(queries);
  });
}

std::vector<CancelStatus> Queue::cancel(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.write([&](Connection& connection, Changes& changes) {
    std::vector<Query> queries;
    queries.push_back(Query{sql::kShareTurns});
    queries.push_back(for_tasks(sql::kMaterialize, ids));
    queries.push_back(for_tasks(kLock, ids));
    queries.push_back(for_tasks(kCancelWaiting, ids));
    queries.push_back(for_tasks(kRequestCancel, ids));
    const std::vector<Result> results = connection.run(queries);
    const Result& locked = results[2];
    std::unordered_map<TaskId, TaskStatus> before;
    for (int row = 0; row < locked.rows(); ++row) {
      if (const auto status = parse_task_status(locked.text(row, 1))) {
        before.emplace(locked.task_id(row, 0), *status);
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
  // There is hardly ever anything to do.
  const detail::Look look;
  const bool any = database_.read(
      [](Connection& connection) { return connection.run(Query{kAnyExpiredLease}).boolean(0, 0); });
  if (!any || request.limit == 0 || look.took_long()) return {};
  return database_.write_in_steps([&](Connection& connection, Changes& changes) {
    std::vector<Query> queries = database_.transaction_settings();
    queries.push_back(Query{sql::kMaterializeExpired});
    queries.back().parameters.add(static_cast<std::int64_t>(request.limit));
    queries.push_back(Query{sql::kDropExpired});
    queries.push_back(Query{kExpiredLeases});
    queries.back().parameters.add(static_cast<std::int64_t>(request.limit));
    const Result result = std::move(connection.run(queries).back());
    std::vector<Loss> losses;
    std::vector<Rescued> rescued;
    if (look.took_long()) return rescued;
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
    Settler{connection, changes, database_.transaction_settings(), bundles_}.rescue(losses);
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
