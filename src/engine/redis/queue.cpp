#include "engine/redis/queue.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "errand/errors.hpp"
#include "errand/task.hpp"

#include "core/document_rules.hpp"
#include "core/stored_json.hpp"
#include "core/worker_lost.hpp"
#include "engine/redis/claims.hpp"
#include "engine/redis/entry.hpp"
#include "engine/redis/in_parts.hpp"
#include "engine/redis/records.hpp"

namespace errand::redis {
namespace {

using std::chrono::milliseconds;

constexpr MostOfAPart kMost{.items = Queue::kMostTasks, .bytes = Queue::kMostBytes};

void add_id(Command& arguments, const TaskId& id) { arguments.add(id); }

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

/// Told where there is work that somebody has already: nobody claims from it, but whoever follows
/// all changes hears of it. keys.lua says so, too.
constexpr const char* kNoQueue = "";

/// Longer results are not told, only that they are there: SHORT of keys.lua.
constexpr std::size_t kToldResult = 1024;

/// Of claim.lua: id, entry, and more.
constexpr std::size_t kValuesOfAClaim = 3;

/// Of submit.lua: the only task is stored, and a worker has it.
constexpr std::int64_t kHandedOver = -1;

constexpr std::int64_t kNotHeld = 0;
constexpr std::int64_t kFinal = 1;
constexpr std::int64_t kWaiting = 2;
constexpr std::int64_t kLocked = 3;

/// One task of settle.lua. `more`: a wait or a bundle.
void add_outcome(Command& arguments, const Lease& lease, std::string_view text,
                 std::string_view outcome, std::string_view more, bool lost) {
  arguments.add(lease.id).add(text).add(
      pack({std::to_string(lease.version), outcome, more, lost ? "1" : "0"}));
}

/// Of a batch some were settled, perhaps: whoever repeats it finds those leases lost.
[[noreturn]] void refuse_locked(const std::vector<TaskId>& locked, std::size_t batch) {
  const Locked error{locked.front().to_string()};
  throw StorageException{error.what(), locked.size() < batch ? StorageException::Retry::in_doubt
                                                             : StorageException::Retry::helps};
}

/// What finished.lua says of a task that is final.
Finish read_finish(const Value& task, TaskStatus status, Timestamp now, milliseconds ttl) {
  using Field = Entry::Field;
  const Entry entry{task[3].text()};
  Finish finish{.id = task[0].task_id(), .kind = Finish::Kind::finished};
  const auto exact = entry.has(Field::completed_at)
                         ? std::optional{time_of(entry.integer(Field::completed_at))}
                         : std::nullopt;
  const std::optional<Timestamp> completed_at =
      task[2].is_nil() ? exact : read_time(task[2], exact);
  if (completed_at && *completed_at + ttl < now) {
    finish.kind = Finish::Kind::expired;
    return finish;
  }
  const auto document = [&](const Value& key, Field field) {
    return key.is_nil() ? entry.optional_text(field) : key.optional_text();
  };
  finish.status = status;
  finish.result = document(task[4], Field::result);
  finish.error = document(task[5], Field::error);
  return finish;
}

void check_names(std::span<const std::string> queues) {
  for (const std::string& queue : queues) detail::check_label("queue", queue);
}

}  // namespace

std::size_t Queue::submit(std::span<const NewTask> tasks) { return store(tasks, nullptr); }

void Queue::adopt(std::span<const NewTask> tasks) { store(tasks, &scripts().adopt); }

std::size_t Queue::store(std::span<const NewTask> tasks, const Script* first) {
  for (const NewTask& task : tasks) validate(task);
  std::set<std::string> queues;
  std::size_t stored = 0;
  in_parts(
      tasks, kMost,
      [&](Command& arguments, const NewTask& task) {
        arguments.add(task.id)
            .add(task.envelope.body())
            .add(pack({task.queue, task.envelope.type(), std::to_string(task.priority),
                       std::to_string(task.delay.count()), std::to_string(task.retry.max_retries),
                       detail::retry_policy_json(task.retry).value_or(""),
                       detail::headers_json(task.envelope.headers()).value_or("")}));
        if (queues.empty() || *queues.begin() != task.queue) queues.insert(task.queue);
      },
      [&](const Command& arguments) {
        // Not at once: what joins a queue is not stored anew, and both may be repeated.
        if (first != nullptr) database_.write(*first, arguments);
        const Reply reply = database_.write(scripts().submit, arguments);
        const std::int64_t answer = reply.value().integer();
        stored += answer == kHandedOver ? 1U : static_cast<std::size_t>(answer);
        if (answer == kHandedOver) queues = {kNoQueue};
        database_.notifications().tell_work(std::vector<std::string>{queues.begin(), queues.end()});
      });
  return stored;
}

Subscription Queue::stand_by(const std::string& worker, Taker taker) {
  return hand_over_.stand_by(worker, std::move(taker));
}

ClaimBatch Queue::claim(const ClaimRequest& request) {
  ClaimBatch batch;
  if (request.limit == 0 || request.queues.empty()) return batch;
  const HandOver::Claiming standing = hand_over_.claims(request);
  // Who claims looks first what it holds.
  batch.in_doubt = standing.missed;
  if (batch.in_doubt) return batch;
  Command arguments;
  arguments.add(static_cast<std::int64_t>(std::min(request.limit, kMostTasks)))
      .add(static_cast<std::int64_t>(std::min(request.suspects, kMostTasks)))
      .add(std::int64_t{request.lease.count()})
      .add(request.worker)
      .add(standing.stands_by);
  for (const std::string& queue : request.queues) arguments.add(queue);
  const Reply reply = database_.write(scripts().claim, arguments);
  const Value claims = reply.value()[0];
  batch.claims.reserve(claims.size() / kValuesOfAClaim);
  for (std::size_t i = 0; i + kValuesOfAClaim <= claims.size(); i += kValuesOfAClaim) {
    const Value more = claims[i + 2];
    const bool bundled = more.is_integer();
    batch.claims.push_back(
        read_claim(claims[i].task_id(), claims[i + 1].text(),
                   more.is_nil() || bundled ? std::nullopt : std::optional{more.text()}, bundled));
    if (bundled) bundles_.note(batch.claims.back().lease.id, more.integer());
  }
  if (const Value next_due = reply.value()[1]; !next_due.is_nil()) {
    batch.next_due = std::chrono::ceil<milliseconds>(std::chrono::microseconds{next_due.integer()});
  }
  return batch;
}

std::vector<LeaseState> Queue::extend(std::span<const Lease> leases, milliseconds lease) {
  std::vector<LeaseState> states;
  states.reserve(leases.size());
  in_parts(
      leases, kMost,
      [&](Command& arguments, const Lease& held) {
        if (arguments.bytes() == 0) arguments.add(std::int64_t{lease.count()});
        arguments.add(held.id).add(held.version);
      },
      [&](const Command& arguments) {
        constexpr std::int64_t kAskedToStop = 2;
        const Reply reply = database_.write(scripts().extend, arguments);
        for (std::size_t i = 0; i < reply.value().size(); ++i) {
          const std::int64_t state = reply.value()[i].integer();
          states.push_back({.lease = leases[states.size()],
                            .lost = state == kNotHeld,
                            .cancel_requested = state == kAskedToStop});
        }
      });
  return states;
}

std::vector<Lease> Queue::held_by(const std::string& worker) {
  Command arguments;
  arguments.add(worker);
  const Reply reply = database_.read(scripts().held, arguments);
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < reply.value().size(); ++i) {
    const Value lease = reply.value()[i];
    leases.push_back({lease[0].task_id(), lease[1].integer()});
  }
  return leases;
}

// As settle.lua names them.
void Queue::add_settlement(Command& arguments, const Settlement& settlement) {
  const std::optional<std::int64_t> bundle = bundles_.take(settlement.lease.id);
  const auto add = [&](std::string_view text, std::string_view outcome, std::string_view more) {
    add_outcome(arguments, settlement.lease, text, outcome, more, /*lost=*/false);
  };
  std::visit(
      Overload{[&](const Completed& outcome) {
                 add(outcome.result, "completed", bundle ? std::to_string(*bundle) : "");
               },
               [&](const Failed& outcome) { add(to_json(outcome.error), "failed", ""); },
               [&](const Retried& outcome) {
                 add(to_json(outcome.error), "retried", std::to_string(outcome.after.count()));
               },
               [&](const CancelHonoured&) { add("", "cancelled", ""); },
               [&](const Released& outcome) {
                 add("", "released", outcome.after ? std::to_string(outcome.after->count()) : "");
               }},
      settlement.outcome);
}

std::vector<SettleStatus> Queue::settle(std::span<const Settlement> settlements) {
  for (const Settlement& settlement : settlements) {
    if (const auto* completed = std::get_if<Completed>(&settlement.outcome)) {
      detail::check_document("result", completed->result, kMaxDocumentBytes);
    }
  }
  std::vector<SettleStatus> statuses;
  statuses.reserve(settlements.size());
  const HandOver::Settling standing = hand_over_.settles(settlements);
  const auto add = [&](Command& arguments, const Settlement& settlement) {
    add_settlement(arguments, settlement);
  };
  in_parts(settlements, kMost, add, [&](Command& arguments) {
    const Reply reply = database_.write(scripts().settle, arguments.add(standing.again));
    std::vector<TaskId> final_tasks;
    std::vector<TaskId> locked;
    bool work = false;
    for (std::size_t i = 0; i < reply.value().size(); ++i) {
      const std::int64_t answer = reply.value()[i].integer();
      const TaskId id = settlements[statuses.size()].lease.id;
      if (answer == kFinal) final_tasks.push_back(id);
      if (answer == kLocked) locked.push_back(id);
      work = work || answer == kWaiting;
      statuses.push_back(answer == kNotHeld ? SettleStatus::lease_lost : SettleStatus::settled);
    }
    if (settlements.size() == 1 && !final_tasks.empty()) {
      tell_of(settlements.front());
    } else if (!final_tasks.empty()) {
      database_.notifications().tell_completion(final_tasks);
    }
    if (work) database_.notifications().tell_work({});
    if (!locked.empty()) refuse_locked(locked, reply.value().size());
  });
  return statuses;
}

void Queue::tell_of(const Settlement& ended) {
  const auto* completed = std::get_if<Completed>(&ended.outcome);
  if (completed != nullptr && completed->result.size() <= kToldResult) {
    database_.notifications().tell_completion(
        Finish{.id = ended.lease.id, .result = completed->result});
  } else {
    database_.notifications().tell_completion({&ended.lease.id, 1});
  }
}

void Queue::report_progress(std::span<const ProgressReport> reports) {
  in_parts(
      reports, kMost,
      [](Command& arguments, const ProgressReport& report) {
        arguments.add(report.lease.id)
            .add(report.lease.version)
            .add(detail::progress_json(report.progress));
      },
      [&](const Command& arguments) { database_.write(scripts().progress, arguments); });
}

std::vector<CancelStatus> Queue::cancel(std::span<const TaskId> ids) {
  std::vector<CancelStatus> statuses;
  statuses.reserve(ids.size());
  in_parts(ids, kMost, add_id, [&](const Command& arguments) {
    const Reply reply = database_.write(scripts().cancel, arguments);
    std::vector<TaskId> final_tasks;
    bool asked = false;
    for (std::size_t i = 0; i < reply.value().size(); ++i) {
      const auto status = static_cast<CancelStatus>(reply.value()[i].integer());
      if (status == CancelStatus::cancelled) final_tasks.push_back(ids[statuses.size()]);
      asked = asked || status == CancelStatus::requested;
      statuses.push_back(status);
    }
    if (!final_tasks.empty()) database_.notifications().tell_completion(final_tasks);
    if (asked) database_.notifications().tell_cancellation();
  });
  return statuses;
}

std::vector<Rescued> Queue::rescue(const RescueRequest& request) {
  Command limit;
  limit.add(static_cast<std::int64_t>(std::min(request.limit, kMostTasks)));
  const detail::Look look;
  const Reply lost = database_.read(scripts().lost, limit);
  if (lost.value().size() == 0 || look.took_long()) return {};
  // Between the two scripts a worker may come back and extend its lease, which leaves the version
  // alone: the second one looks at the lease again.
  std::vector<Rescued> candidates;
  Command arguments;
  for (std::size_t i = 0; i < lost.value().size(); ++i) {
    const Value task = lost.value()[i];
    const std::string worker{task[3].text()};
    const int crashes = task[4].small_integer() + 1;
    const TaskStatus status =
        detail::after_lost_worker(crashes, request.max_crashes, !task[5].is_nil());
    candidates.push_back({.id = task[0].task_id(),
                          .queue = std::string{task[2].text()},
                          .worker = worker,
                          .status = status});
    add_outcome(
        arguments, Lease{task[0].task_id(), task[1].integer()},
        status == TaskStatus::cancelled ? "" : to_json(detail::worker_lost(worker, crashes)),
        status == TaskStatus::retrying ? "retried" : to_string(status), "", /*lost=*/true);
  }
  const Reply settled = database_.write(scripts().settle, arguments);
  std::vector<Rescued> rescued;
  std::vector<TaskId> final_tasks;
  std::vector<std::string> queues;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::int64_t answer = settled.value()[i].integer();
    if (answer == kNotHeld || answer == kLocked) continue;
    if (answer == kFinal) {
      final_tasks.push_back(candidates[i].id);
    } else {
      queues.push_back(candidates[i].queue);
    }
    rescued.push_back(std::move(candidates[i]));
  }
  if (!final_tasks.empty()) database_.notifications().tell_completion(final_tasks);
  if (!queues.empty()) database_.notifications().tell_work(queues);
  return rescued;
}

std::size_t Queue::requeue(std::span<const TaskId> ids) {
  std::size_t count = 0;
  in_parts(ids, kMost, add_id, [&](const Command& arguments) {
    const Reply reply = database_.write(scripts().requeue, arguments);
    std::vector<std::string> queues;
    for (std::size_t i = 0; i < reply.value().size(); ++i) {
      queues.emplace_back(reply.value()[i].text());
    }
    count += queues.size();
    if (!queues.empty()) database_.notifications().tell_work(queues);
  });
  return count;
}

std::size_t Queue::discard(std::span<const TaskId> ids) {
  std::size_t count = 0;
  in_parts(
      ids, kMost,
      [](Command& arguments, const TaskId& id) {
        if (arguments.bytes() == 0) arguments.add("final");
        arguments.add(id);
      },
      [&](const Command& arguments) {
        const Reply reply = database_.write(scripts().remove, arguments);
        std::vector<TaskId> removed;
        for (std::size_t i = 0; i < reply.value().size(); ++i) {
          removed.push_back(reply.value()[i].task_id());
        }
        count += removed.size();
        if (!removed.empty()) database_.notifications().tell_completion(removed);
      });
  return count;
}

std::vector<Finish> Queue::finished(std::span<const TaskId> ids) {
  // Nobody needs these to be of one moment: small parts let others have their turn.
  constexpr MostOfAPart kPart{.items = 1000, .bytes = kMostBytes};
  std::vector<Finish> finishes;
  in_parts(ids, kPart, add_id, [&](const Command& arguments) {
    const Reply reply = database_.read(scripts().finished, arguments);
    const Timestamp now = time_of(reply.value()[0].integer());
    for (std::size_t i = 1; i < reply.value().size(); ++i) {
      const Value task = reply.value()[i];
      const std::optional<TaskStatus> status = parse_task_status(task[1].text());
      finishes.push_back(status ? read_finish(task, *status, now, database_.ttl())
                                : Finish{.id = task[0].task_id(), .kind = Finish::Kind::unknown});
    }
  });
  return finishes;
}

void Queue::pause(std::span<const std::string> queues) {
  check_names(queues);
  if (queues.empty()) return;
  database_.write([&](Connection& connection) {
    Command command{"SADD"};
    command.add(database_.own_key("paused"));
    for (const std::string& queue : queues) command.add(queue);
    return connection.run(command);
  });
}

void Queue::resume(std::span<const std::string> queues) {
  check_names(queues);
  if (queues.empty()) return;
  Command arguments;
  for (const std::string& queue : queues) arguments.add(queue);
  database_.write(scripts().resume, arguments);
  database_.notifications().tell_work(queues);
}

}  // namespace errand::redis
