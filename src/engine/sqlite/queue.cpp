#include "engine/sqlite/queue.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "errand/errors.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "core/stored_json.hpp"
#include "core/worker_lost.hpp"
#include "engine/sqlite/rows.hpp"
#include "engine/sqlite/settle.hpp"
#include "engine/sqlite/statements.hpp"
#include "engine/sqlite/submit.hpp"

namespace errand::sqlite {
namespace {

static_assert(kSuspectCrashes == 2, "the statements and two partial indexes say so, too");

using std::chrono::milliseconds;

constexpr const char* kIsPaused = "SELECT 1 FROM errand_paused_queues WHERE queue_name = ?1";

/// 1 queue_name, 2 priority, 3 now.
constexpr const char* kNextDue = R"(
SELECT available_at FROM async_tasks INDEXED BY idx_claimable
WHERE status IN ('pending', 'retrying') AND crashes < 2
  AND queue_name = ?1 AND priority = ?2 AND available_at > ?3
ORDER BY available_at LIMIT 1)";

/// 1 queue_name, 2 now.
constexpr const char* kNextDueSuspect = R"(
SELECT min(available_at) FROM async_tasks INDEXED BY idx_suspects
WHERE status IN ('pending', 'retrying') AND crashes >= 2
  AND queue_name = ?1 AND available_at > ?2)";

/// 1 task_id, 2 version, 3 progress.
constexpr const char* kProgress = R"(
UPDATE async_tasks SET progress = ?3
WHERE task_id = ?1 AND version = ?2 AND status = 'running')";

constexpr const char* kHeldBy =
    "SELECT task_id, version FROM async_tasks WHERE status = 'running' AND worker = ?1"
    " AND lease_expires_at IS NOT NULL";

constexpr const char* kStatus = "SELECT status FROM async_tasks WHERE task_id = ?1";

/// 1 task_id, 2 now.
constexpr const char* kCancelWaiting = R"(
UPDATE async_tasks
SET status = 'cancelled', version = version + 1,
    completed_at = max(?2, coalesce(started_at, submitted_at))
WHERE task_id = ?1)";

constexpr const char* kRequestCancel =
    "UPDATE async_tasks SET cancel_requested = 1 WHERE task_id = ?1";

/// 1 task_id, 2 now.
constexpr const char* kRequeue = R"(
UPDATE async_tasks
SET status = 'pending', version = version + 1, result = NULL, error = NULL, started_at = NULL,
    completed_at = NULL, available_at = ?2, attempts = 0, crashes = 0,
    cancel_requested = 0, worker = NULL, progress = NULL
WHERE task_id = ?1 AND status IN ('failed', 'cancelled') AND queue_name IS NOT NULL)";

constexpr const char* kDiscard = R"(
DELETE FROM async_tasks
WHERE task_id = ?1 AND status IN ('completed', 'failed', 'cancelled'))";

bool is_paused(Connection& connection, const std::string& queue) {
  Statement& row = connection.prepare(kIsPaused).bind(1, queue);
  const bool paused = row.step();
  row.reset();
  return paused;
}

/// What claiming needs beside the request: the texts live as long as the statements use them.
struct ClaimTimes {
  std::string now;
  std::string lease_expires_at;
};

/// RETURNING gives rows in the order of the update; this holds what they were chosen by.
struct Ranked {
  Claim claim;
  std::size_t queue;  ///< its place in the request
  std::int64_t row_id;
};

/// Growing to it would move each claim several times, while nobody else can write.
constexpr std::size_t kUsualBatch = 1000;

/// Of the queue at this place in the request.
void claim_rows(Connection& connection, const char* sql, const ClaimRequest& request,
                const ClaimTimes& times, std::size_t queue, std::int64_t priority,
                std::size_t limit, std::vector<Ranked>& batch) {
  Statement& row = connection.prepare(sql);
  row.bind(1, times.now)
      .bind(2, times.lease_expires_at)
      .bind(3, request.worker)
      .bind(4, request.queues[queue])
      .bind(5, priority)
      .bind(6, static_cast<std::int64_t>(limit));
  while (row.step()) {
    if (batch.empty()) batch.reserve(std::min<std::size_t>(limit, kUsualBatch));
    batch.push_back(Ranked{
        .claim =
            Claim{.lease = Lease{read_task_id(row, 0), row.integer(1)},
                  .envelope = Envelope{std::string{row.text(2)}, std::string{row.text(3)},
                                       detail::read_headers(row.optional_text(10))},
                  .queue = std::string{row.text(4)},
                  .priority = row.small_integer(5),
                  .attempt = row.small_integer(6),
                  .crashes = row.small_integer(7),
                  .retry = detail::read_retry_policy(row.small_integer(8), row.optional_text(9)),
                  .submitted_at = read_time(row, 11),
                  .available_at = read_time(row, 13),
                  .cancel_requested = row.integer(12) != 0},
        .queue = queue,
        .row_id = row.integer(14)});
  }
}

std::vector<Claim> in_order(std::vector<Ranked> batch) {
  std::sort(batch.begin(), batch.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(a.queue, b.claim.priority, a.claim.available_at, a.row_id) <
           std::tie(b.queue, a.claim.priority, b.claim.available_at, b.row_id);
  });
  std::vector<Claim> claims;
  claims.reserve(batch.size());
  for (Ranked& ranked : batch) claims.push_back(std::move(ranked.claim));
  return claims;
}

/// Calls `body(priority)` for each priority of the queue that has waiting tasks, highest first,
/// until it returns false.
template <class Body>
void for_each_priority(Connection& connection, const std::string& queue, Body&& body) {
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  while (true) {
    Statement& row = connection.prepare(sql::kNextPriority).bind(1, queue).bind(2, below);
    const bool found = row.step() && !row.is_null(0);
    if (found) below = row.integer(0);
    row.reset();
    if (!found || !body(below)) return;
  }
}

std::optional<Timestamp> next_due(Connection& connection, const std::string& queue,
                                  const std::string& now, bool with_suspects) {
  std::optional<Timestamp> next;
  const auto consider = [&](Statement& row) {
    if (row.step() && !row.is_null(0)) {
      const Timestamp due = read_time(row, 0);
      next = next ? std::min(*next, due) : due;
    }
    row.reset();
  };
  for_each_priority(connection, queue, [&](std::int64_t priority) {
    consider(connection.prepare(kNextDue).bind(1, queue).bind(2, priority).bind(3, now));
    return true;
  });
  if (with_suspects) consider(connection.prepare(kNextDueSuspect).bind(1, queue).bind(2, now));
  return next;
}

CancelStatus cancel_one(Connection& connection, TaskId id, const std::string& now,
                        Changes& changes) {
  const std::string key = id.to_string();
  Statement& row = connection.prepare(kStatus).bind(1, key);
  if (!row.step()) return CancelStatus::not_found;
  const std::optional<TaskStatus> status = parse_task_status(row.text(0));
  row.reset();
  if (!status || is_final(*status)) return CancelStatus::already_final;
  if (is_waiting(*status)) {
    connection.prepare(kCancelWaiting).bind(1, key).bind(2, now).run();
    changes.final_tasks.push_back(id);
    return CancelStatus::cancelled;
  }
  connection.prepare(kRequestCancel).bind(1, key).run();
  changes.cancellation = true;
  return CancelStatus::requested;
}

}  // namespace

std::size_t Queue::submit(std::span<const NewTask> tasks) { return store(tasks, {}); }

void Queue::adopt(std::span<const NewTask> tasks) { store(tasks, sql::kAdopt); }

std::size_t Queue::store(std::span<const NewTask> tasks, std::optional<const char*> first) {
  if (tasks.empty()) return 0;
  for (const NewTask& task : tasks) validate(task);
  const Timestamp now = database_.now();
  return database_.write([&](Connection& connection, Changes& changes) {
    std::size_t stored = 0;
    for (const NewTask& task : tasks) {
      if (first) run_for_task(connection.prepare(*first), task, now);
      run_for_task(connection.prepare(sql::kSubmit), task, now);
      stored += static_cast<std::size_t>(connection.changes());
      // Batches are mostly of one queue; a name that comes twice does no harm.
      if (changes.queues.empty() || changes.queues.back() != task.queue) {
        changes.queues.push_back(task.queue);
      }
    }
    changes.work = true;
    return stored;
  });
}

ClaimBatch Queue::claim(const ClaimRequest& request) {
  std::vector<Ranked> found;
  const auto next_due_in = database_.write([&](Connection& connection, Changes&) {
    // Here, after others have ended theirs: a lease does not begin before it can be used.
    const Timestamp now = database_.now();
    const ClaimTimes times{to_sql_time(now), to_sql_time(now + request.lease)};
    const auto room = [&] { return request.limit - found.size(); };
    std::size_t suspects_left = request.suspects;
    std::optional<Timestamp> next;
    for (std::size_t queue = 0; queue < request.queues.size() && room() > 0; ++queue) {
      const std::string& name = request.queues[queue];
      if (is_paused(connection, name)) continue;
      if (suspects_left > 0) {
        const std::size_t before = found.size();
        claim_rows(connection, sql::kClaimSuspects, request, times, queue, 0,
                   std::min(suspects_left, room()), found);
        suspects_left -= found.size() - before;
      }
      for_each_priority(connection, name, [&](std::int64_t priority) {
        if (room() == 0) return false;
        claim_rows(connection, sql::kClaim, request, times, queue, priority, room(), found);
        return true;
      });
      if (room() == 0) break;
      if (const auto due = next_due(connection, name, times.now, suspects_left > 0)) {
        next = next ? std::min(*next, *due) : *due;
      }
    }
    return next && room() > 0 ? std::optional{std::chrono::ceil<milliseconds>(*next - now)}
                              : std::nullopt;
  });
  // Here, where others can write already.
  return ClaimBatch{.claims = in_order(std::move(found)), .next_due = next_due_in};
}

std::vector<LeaseState> Queue::extend(std::span<const Lease> leases, milliseconds lease) {
  if (leases.empty()) return {};
  return database_.write([&](Connection& connection, Changes&) {
    const std::string lease_expires_at = to_sql_time(database_.now() + lease);
    std::vector<LeaseState> states;
    states.reserve(leases.size());
    for (const Lease& held : leases) {
      const std::string id = held.id.to_string();
      Statement& row = connection.prepare(sql::kExtend)
                           .bind(1, id)
                           .bind(2, held.version)
                           .bind(3, lease_expires_at);
      LeaseState state{.lease = held, .lost = true, .cancel_requested = false};
      while (row.step()) {
        state.lost = false;
        state.cancel_requested = row.integer(0) != 0;
      }
      states.push_back(state);
    }
    return states;
  });
}

std::vector<Lease> Queue::held_by(const std::string& worker) {
  return database_.read([&](Connection& connection) {
    std::vector<Lease> leases;
    Statement& row = connection.prepare(kHeldBy).bind(1, worker);
    while (row.step()) leases.push_back({read_task_id(row, 0), row.integer(1)});
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
  const Timestamp now = database_.now();
  return database_.write([&](Connection& connection, Changes& changes) {
    Settler settler{connection, changes, now};
    std::vector<SettleStatus> statuses;
    statuses.reserve(settlements.size());
    for (const Settlement& settlement : settlements) {
      statuses.push_back(settler.settle(settlement) ? SettleStatus::settled
                                                    : SettleStatus::lease_lost);
    }
    return statuses;
  });
}

void Queue::report_progress(std::span<const ProgressReport> reports) {
  if (reports.empty()) return;
  database_.write([&](Connection& connection, Changes&) {
    for (const ProgressReport& report : reports) {
      const std::string id = report.lease.id.to_string();
      const std::string progress = progress_column(report.progress);
      connection.prepare(kProgress)
          .bind(1, id)
          .bind(2, report.lease.version)
          .bind(3, progress)
          .run();
    }
    return true;
  });
}

std::vector<CancelStatus> Queue::cancel(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  const std::string now = to_sql_time(database_.now());
  return database_.write([&](Connection& connection, Changes& changes) {
    std::vector<CancelStatus> statuses;
    statuses.reserve(ids.size());
    for (const TaskId& id : ids) statuses.push_back(cancel_one(connection, id, now, changes));
    return statuses;
  });
}

std::vector<Rescued> Queue::rescue(const RescueRequest& request) {
  const detail::Look look;
  // In a transaction for writing, though there is hardly ever anything to do: it waits where those
  // wait who extend leases.
  return database_.write([&](Connection& connection, Changes& changes) {
    struct Lost {
      Lease lease;
      Rescued rescued;
      int crashes;
    };
    std::vector<Lost> lost;
    std::vector<Rescued> rescued;
    if (request.limit == 0 || look.took_long()) return rescued;
    const Timestamp now = database_.now();
    const std::string expired = to_sql_time(now);
    Statement& row = connection.prepare(sql::kExpiredLeases);
    row.bind(1, expired).bind(2, static_cast<std::int64_t>(request.limit));
    while (row.step()) {
      const int crashes = row.small_integer(4) + 1;
      lost.push_back(
          Lost{.lease = Lease{read_task_id(row, 0), row.integer(1)},
               .rescued = Rescued{.id = read_task_id(row, 0),
                                  .queue = std::string{row.text(2)},
                                  .worker = std::string{row.text(3)},
                                  .status = detail::after_lost_worker(crashes, request.max_crashes,
                                                                      row.integer(5) != 0)},
               .crashes = crashes});
    }
    Settler settler{connection, changes, now};
    for (Lost& task : lost) {
      settler.rescue(task.lease, task.rescued.status,
                     detail::worker_lost(task.rescued.worker, task.crashes));
      rescued.push_back(std::move(task.rescued));
    }
    return rescued;
  });
}

std::size_t Queue::requeue(std::span<const TaskId> ids) {
  if (ids.empty()) return 0;
  const std::string now = to_sql_time(database_.now());
  return database_.write([&](Connection& connection, Changes& changes) {
    std::size_t count = 0;
    for (const TaskId& id : ids) {
      const std::string key = id.to_string();
      connection.prepare(kRequeue).bind(1, key).bind(2, now).run();
      count += static_cast<std::size_t>(connection.changes());
    }
    changes.work = count > 0;
    return count;
  });
}

std::size_t Queue::discard(std::span<const TaskId> ids) {
  if (ids.empty()) return 0;
  return database_.write([&](Connection& connection, Changes& changes) {
    std::size_t count = 0;
    for (const TaskId& id : ids) {
      const std::string key = id.to_string();
      connection.prepare(kDiscard).bind(1, key).run();
      if (connection.changes() == 0) continue;
      changes.final_tasks.push_back(id);
      ++count;
    }
    return count;
  });
}

std::vector<Finish> Queue::finished(std::span<const TaskId> ids) {
  if (ids.empty()) return {};
  return database_.read([&](Connection& connection) {
    std::vector<Finish> finishes;
    for (const TaskId& id : ids) {
      const std::string key = id.to_string();
      Statement& row = connection.prepare(sql::kFinished).bind(1, key);
      Finish finish{.id = id, .kind = Finish::Kind::unknown, .result = {}, .error = {}};
      if (row.step()) {
        const std::optional<TaskStatus> status = parse_task_status(row.text(0));
        if (!status || !is_final(*status)) {
          row.reset();
          continue;
        }
        const bool expired = database_.is_expired(read_optional_time(row, 3));
        finish.kind = expired ? Finish::Kind::expired : Finish::Kind::finished;
        if (!expired) {
          finish.status = *status;
          finish.result = row.optional_text(1);
          finish.error = row.optional_text(2);
        }
        row.reset();
      }
      finishes.push_back(std::move(finish));
    }
    return finishes;
  });
}

void Queue::pause(std::span<const std::string> queues) {
  for (const std::string& queue : queues) detail::check_label("queue", queue);
  const std::string now = to_sql_time(database_.now());
  database_.write([&](Connection& connection, Changes&) {
    for (const std::string& queue : queues) {
      connection
          .prepare(
              "INSERT INTO errand_paused_queues (queue_name, paused_at) VALUES (?1, ?2) "
              "ON CONFLICT (queue_name) DO NOTHING")
          .bind(1, queue)
          .bind(2, now)
          .run();
    }
    return true;
  });
}

void Queue::resume(std::span<const std::string> queues) {
  for (const std::string& queue : queues) detail::check_label("queue", queue);
  database_.write([&](Connection& connection, Changes& changes) {
    for (const std::string& queue : queues) {
      connection.prepare("DELETE FROM errand_paused_queues WHERE queue_name = ?1")
          .bind(1, queue)
          .run();
    }
    changes.work = true;
    changes.queues.assign(queues.begin(), queues.end());
    return true;
  });
}

}  // namespace errand::sqlite
