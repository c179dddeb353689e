#include "worker/message_queue.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <iterator>
#include <utility>
#include <variant>

#include "errand/errors.hpp"
#include "errand/handler.hpp"

#include "bus/async_task_message.hpp"
#include "bus/message_failure.hpp"
#include "bus/symfony_stamps.hpp"

namespace errand::detail {
namespace {

/// A message has one lease in its life: what fences is the hold.
constexpr std::int64_t kVersion = 1;

/// Does each of several things although others fail; the first error is thrown at the end.
class EachOfMany {
 public:
  template <class Body>
  void run(Body&& body) {
    try {
      body();
    } catch (const Error&) {
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

std::optional<std::chrono::milliseconds> earlier(std::optional<std::chrono::milliseconds> a,
                                                 std::optional<std::chrono::milliseconds> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

ExceptionData unreadable_because(const std::string& reason) {
  ExceptionData error;
  error.class_name = readable_type_name(typeid(UnreadableMessage));
  error.message = reason;
  return error;
}

/// In milliseconds, until a message can be received that is to wait for so long: some storages have
/// room for whole seconds only.
std::int64_t real_wait(const Transport& transport, std::chrono::milliseconds wait, Timestamp now) {
  using std::chrono::milliseconds;
  if (wait.count() <= 0) return 0;
  const milliseconds due = std::chrono::ceil<milliseconds>(now.time_since_epoch() + wait);
  const milliseconds grain = transport.granularity();
  const milliseconds rounded = (due + grain - milliseconds{1}) / grain * grain;
  return std::chrono::ceil<milliseconds>(rounded - now.time_since_epoch()).count();
}

}  // namespace

MessageQueue::MessageQueue(std::vector<ConsumedTransport> transports, SymfonySerializer serializer,
                           Tasks tasks, const Clock& clock, Logger& logger)
    : transports_{std::move(transports)},
      serializer_{std::move(serializer)},
      tasks_{std::move(tasks)},
      clock_{clock},
      logger_{logger},
      troubles_(transports_.size() + 1) {}

// --- claiming
// -------------------------------------------------------------------------------------

ClaimBatch MessageQueue::claim(const ClaimRequest& request) {
  ClaimBatch batch;
  std::exception_ptr error;
  bool reached_one = false;
  // One that cannot be reached does not keep the others from being served.
  const auto guarded = [&](Trouble& trouble, const std::string& where, auto&& body) {
    if (trouble.waits()) return;
    try {
      body();
      reached_one = true;
      if (trouble.end()) logger_.info(fmt::format("{} can be reached again", where));
    } catch (const StorageException& e) {
      if (trouble.begin())
        logger_.error(fmt::format("cannot receive from {}: {}", where, e.what()));
      error = std::current_exception();
    }
  };
  const auto claim_tasks = [&] {
    guarded(troubles_.back(), "the task queues", [&] {
      ClaimRequest rest = request;
      rest.limit -= batch.claims.size();
      try {
        ClaimBatch more = tasks_.queue->claim(rest);
        std::ranges::move(more.claims, std::back_inserter(batch.claims));
        batch.next_due = earlier(batch.next_due, more.next_due);
        batch.in_doubt |= more.in_doubt;
      } catch (const StorageException& e) {
        batch.in_doubt |= e.retry() == StorageException::Retry::in_doubt;
        throw;
      }
    });
  };
  if (tasks_.queue != nullptr && !tasks_.last) claim_tasks();
  const std::size_t joined = receive_all(request, batch, guarded);
  if (tasks_.queue != nullptr && (tasks_.last || joined > 0)) claim_tasks();
  // What was claimed must be run. Where nothing answers, the worker waits and says so.
  if (error && !reached_one && batch.claims.empty() && !batch.in_doubt) {
    std::rethrow_exception(error);
  }
  return batch;
}

std::size_t MessageQueue::receive_all(const ClaimRequest& request, ClaimBatch& batch,
                                      const auto& guarded) {
  std::size_t tasks = 0;
  const auto wanted = [&] {
    return request.limit - std::min(request.limit, batch.claims.size() + tasks);
  };
  for (std::size_t i = 0; i < transports_.size() && wanted() > 0; ++i) {
    Transport& transport = *transports_[i].transport;
    guarded(troubles_[i], transport.name(), [&] {
      // Again, where some were unreadable: there may be more behind them.
      while (const std::size_t limit = wanted()) {
        const Received received = receive(i, limit, batch.claims);
        tasks += received.tasks;
        if (received.messages == limit) continue;
        batch.next_due = earlier(batch.next_due, transport.next_due());
        return;
      }
    });
  }
  return tasks;
}

MessageQueue::Received MessageQueue::receive(std::size_t transport, std::size_t limit,
                                             std::vector<Claim>& claims) {
  const ConsumedTransport& from = transports_[transport];
  std::vector<Delivery> deliveries = from.transport->receive(limit);
  const Timestamp now = clock_.now();
  std::vector<std::pair<Delivery, std::string>> unreadable;
  std::vector<NewTask> tasks;
  std::vector<Hold> holds_of_tasks;
  const std::size_t count = deliveries.size();
  for (Delivery& delivery : deliveries) {
    try {
      Envelope envelope = serializer_.read(delivery.message);
      if (is_async_task(envelope.type())) {
        tasks.push_back(read_task(envelope, transport));
        holds_of_tasks.push_back(std::move(delivery.hold));
        continue;
      }
      const Lease lease{TaskId::generate(), kVersion};
      std::string id = message_id(delivery.message.headers).value_or(delivery.hold.id);
      claims.push_back(Claim{.lease = lease,
                             .envelope = std::move(envelope),
                             .queue = from.transport->name(),
                             .priority = 0,
                             .attempt = retry_count(delivery.message.headers) + 1,
                             .crashes = 0,
                             .retry = from.retry,
                             .submitted_at = now,
                             .cancel_requested = false,
                             .message_id = id});
      const std::lock_guard lock{mutex_};
      held_.emplace(lease.id, Held{.transport = transport,
                                   .hold = std::move(delivery.hold),
                                   .kept_at = now,
                                   .message = std::move(delivery.message),
                                   .id = std::move(id)});
    } catch (const UnreadableMessage& error) {
      unreadable.emplace_back(std::move(delivery), error.what());
    }
  }
  if (!unreadable.empty()) refuse(transport, std::move(unreadable));
  if (!tasks.empty()) adopt(transport, tasks, holds_of_tasks);
  return {.messages = count, .tasks = tasks.size()};
}

NewTask MessageQueue::read_task(const Envelope& envelope, std::size_t transport) const {
  if (tasks_.queue == nullptr) {
    throw UnreadableMessage{
        "an AsyncTaskMessage is a task, and this worker serves none; give it the storage of the "
        "tasks and a queue"};
  }
  NewTask task = read_async_task(envelope, serializer_);
  task.queue = tasks_.join;
  task.retry = transports_[transport].task_retry;
  return task;
}

/// The message ends when its task is stored: in between a crash has it adopted again, which changes
/// nothing.
void MessageQueue::adopt(std::size_t transport, std::span<const NewTask> tasks,
                         std::span<const Hold> holds) {
  Transport& from = *transports_[transport].transport;
  try {
    tasks_.queue->adopt(tasks);
  } catch (const StorageException&) {
    from.release(holds);
    throw;
  }
  std::vector<MessageSettlement> ends;
  for (const Hold& hold : holds) ends.push_back({hold, std::nullopt});
  static_cast<void>(from.settle(ends));
}

void MessageQueue::refuse(std::size_t transport,
                          std::vector<std::pair<Delivery, std::string>> unreadable) {
  const ConsumedTransport& from = transports_[transport];
  for (const auto& [delivery, reason] : unreadable) {
    const std::string id = message_id(delivery.message.headers).value_or(delivery.hold.id);
    // Two lines: either may be long, and what a long line holds in its middle is not shown.
    logger_.warning(fmt::format("message {} of {}: {}", id, from.transport->name(), reason));
    logger_.info(fmt::format("message {} of {} goes {}", id, from.transport->name(),
                             to_failure_transport(from)));
    const MessageSettlement settlement{
        delivery.hold, MessageSettlement::Forward{
                           from.failure, dead_letter_of(delivery.message, delivery.hold.id,
                                                        unreadable_because(reason),
                                                        from.transport->name(), clock_.now())}};
    try {
      static_cast<void>(from.transport->settle({&settlement, 1}));
    } catch (const Error& error) {
      // It stays where it is, and comes again when nobody has kept it alive for long enough.
      logger_.error(fmt::format("message {} of {} cannot be moved to {}: {}", id,
                                from.transport->name(), from.failure->name(), error.what()));
    }
  }
}

// --- keeping
// --------------------------------------------------------------------------------------

std::vector<LeaseState> MessageQueue::extend(std::span<const Lease> leases,
                                             std::chrono::milliseconds lease) {
  std::vector<LeaseState> states;
  for (const Lease& one : leases) states.push_back({.lease = one});
  EachOfMany each;
  for (std::size_t i = 0; i < transports_.size(); ++i) {
    each.run([&] { keep_alive(i, states); });
  }
  const std::vector<Lease> others = leases_of_tasks(leases);
  if (tasks_.queue != nullptr && !others.empty()) {
    each.run([&] {
      for (const LeaseState& state : tasks_.queue->extend(others, lease)) {
        const auto place = std::ranges::find(states, state.lease.id,
                                             [](const LeaseState& one) { return one.lease.id; });
        if (place != states.end()) *place = state;
      }
    });
  }
  each.rethrow();
  return states;
}

std::vector<Lease> MessageQueue::leases_of_tasks(std::span<const Lease> leases) {
  std::vector<Lease> others;
  const std::lock_guard lock{mutex_};
  for (const Lease& lease : leases) {
    if (!held_.contains(lease.id)) others.push_back(lease);
  }
  return others;
}

/// A third of the time that may pass has to have passed: with the hour that is usual, a worker's
/// beat would otherwise write each message a thousand times.
void MessageQueue::keep_alive(std::size_t transport, std::vector<LeaseState>& states) {
  Transport& from = *transports_[transport].transport;
  const Timestamp now = clock_.now();
  std::vector<Hold> holds;
  std::vector<LeaseState*> places;
  {
    const std::lock_guard lock{mutex_};
    for (LeaseState& state : states) {
      const auto held = held_.find(state.lease.id);
      if (held == held_.end() || held->second.transport != transport) continue;
      const Stage stage = held->second.stage;
      if (stage == Stage::released || stage == Stage::settled) continue;
      if (now - held->second.kept_at < from.redeliver_timeout() / 3) continue;
      holds.push_back(held->second.hold);
      places.push_back(&state);
    }
  }
  if (holds.empty()) return;
  const std::vector<std::optional<Hold>> kept = from.keep_alive(holds);
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto held = held_.find(places[i]->lease.id);
    if (held == held_.end()) continue;  // it has ended meanwhile
    if (kept[i]) {
      held->second.hold = *kept[i];
      held->second.kept_at = now;
    } else if (held->second.stage == Stage::running) {
      places[i]->lost = true;
      held_.erase(held);
    }
  }
}

// --- settling
// -------------------------------------------------------------------------------------

std::vector<SettleStatus> MessageQueue::settle(std::span<const Settlement> settlements) {
  std::vector<SettleStatus> statuses(settlements.size(), SettleStatus::lease_lost);
  std::vector<Settlement> of_tasks;
  std::vector<std::size_t> places;
  {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      if (held_.contains(settlements[i].lease.id)) continue;
      of_tasks.push_back(settlements[i]);
      places.push_back(i);
    }
  }
  EachOfMany each;
  for (std::size_t i = 0; i < transports_.size(); ++i) {
    each.run([&] { settle_messages(i, settlements, statuses); });
  }
  if (tasks_.queue != nullptr && !of_tasks.empty()) {
    each.run([&] {
      const std::vector<SettleStatus> settled = tasks_.queue->settle(of_tasks);
      for (std::size_t i = 0; i < settled.size(); ++i) statuses[places[i]] = settled[i];
    });
  }
  try {
    each.rethrow();
  } catch (const ValidationException&) {
    // Alone it is dropped: see Settler.
    if (settlements.size() == 1) forget(settlements);
    throw;
  } catch (const StorageException& error) {
    const bool some_are_settled = std::ranges::count(statuses, SettleStatus::settled) > 0;
    if (!some_are_settled) throw;
    throw StorageException{error.what(), StorageException::Retry::in_doubt};
  }
  forget(settlements);
  return statuses;
}

void MessageQueue::forget(std::span<const Settlement> settlements) {
  const std::lock_guard lock{mutex_};
  for (const Settlement& settlement : settlements) held_.erase(settlement.lease.id);
}

void MessageQueue::settle_messages(std::size_t transport, std::span<const Settlement> settlements,
                                   std::vector<SettleStatus>& statuses) {
  std::vector<MessageSettlement> ends;
  std::vector<std::size_t> places;
  std::vector<Hold> released;
  std::vector<std::size_t> released_places;
  {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      const auto entry = held_.find(settlements[i].lease.id);
      if (entry == held_.end() || entry->second.transport != transport) continue;
      Held& held = entry->second;
      if (held.stage == Stage::settled) {
        statuses[i] = SettleStatus::settled;
      } else if (std::holds_alternative<Released>(settlements[i].outcome)) {
        held.stage = Stage::released;
        released.push_back(held.hold);
        released_places.push_back(i);
      } else {
        const bool first_try = std::exchange(held.stage, Stage::ending) != Stage::ending;
        ends.push_back({held.hold, forward_of(held, settlements[i].outcome, first_try)});
        places.push_back(i);
      }
    }
  }
  Transport& in = *transports_[transport].transport;
  const auto set_settled = [&](std::size_t place) {
    statuses[place] = SettleStatus::settled;
    const std::lock_guard lock{mutex_};
    if (const auto entry = held_.find(settlements[place].lease.id); entry != held_.end()) {
      entry->second.stage = Stage::settled;
    }
  };
  try {
    in.release(released);
  } catch (const StorageException& error) {
    // Not twice: somebody else may hold it by then. It comes again by itself.
    if (error.retry() != StorageException::Retry::in_doubt) throw;
    logger_.warning(fmt::format("cannot tell whether {} messages were handed back to {}: {}",
                                released.size(), in.name(), error.what()));
  }
  for (const std::size_t place : released_places) set_settled(place);
  const std::vector<MessageSettleStatus> ended = in.settle(ends);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (ended[i] == MessageSettleStatus::settled) set_settled(places[i]);
  }
}

std::string MessageQueue::to_failure_transport(const ConsumedTransport& from) {
  const std::string& called =
      from.failure_called.empty() ? from.failure->name() : from.failure_called;
  const bool is_plain = called.find_first_of("?&*; '\"") == std::string::npos;
  return fmt::format("to {}: errand failed list --transport {}", from.failure->name(),
                     is_plain ? called : "'" + called + "'");
}

std::optional<MessageSettlement::Forward> MessageQueue::forward_of(const Held& held,
                                                                   const Outcome& outcome,
                                                                   bool tells) const {
  const ConsumedTransport& from = transports_[held.transport];
  const Timestamp now = clock_.now();
  const auto tell = [&](const std::string& where) {
    if (!tells) return;
    logger_.info(fmt::format("message {} of {} goes {}", held.id, from.transport->name(), where));
  };
  if (const auto* retried = std::get_if<Retried>(&outcome)) {
    tell(fmt::format("back to it, due in {} ms", real_wait(*from.transport, retried->after, now)));
    return MessageSettlement::Forward{
        from.transport, retry_of(held.message, held.hold.id, retried->error, retried->after, now)};
  }
  const auto dead_letter = [&](const ExceptionData& error) {
    tell(to_failure_transport(from));
    return MessageSettlement::Forward{
        from.failure,
        dead_letter_of(held.message, held.hold.id, error, from.transport->name(), now)};
  };
  if (const auto* failed = std::get_if<Failed>(&outcome)) return dead_letter(failed->error);
  if (std::holds_alternative<CancelHonoured>(outcome)) {
    // Nobody can ask for that: a message has no record to ask in.
    ExceptionData error;
    error.class_name = readable_type_name(typeid(Cancelled));
    error.message = "the handler stopped of its own accord";
    return dead_letter(error);
  }
  return std::nullopt;
}

// --- for tasks alone
// ------------------------------------------------------------------------------

void MessageQueue::report_progress(std::span<const ProgressReport> reports) {
  if (tasks_.queue == nullptr) return;
  std::vector<ProgressReport> of_tasks;
  {
    const std::lock_guard lock{mutex_};
    for (const ProgressReport& report : reports) {
      if (!held_.contains(report.lease.id)) of_tasks.push_back(report);
    }
  }
  tasks_.queue->report_progress(of_tasks);
}

std::vector<Lease> MessageQueue::held_by(const std::string& worker) {
  return tasks_.queue != nullptr ? tasks_.queue->held_by(worker) : std::vector<Lease>{};
}

std::vector<Rescued> MessageQueue::rescue(const RescueRequest& request) {
  return tasks_.queue != nullptr ? tasks_.queue->rescue(request) : std::vector<Rescued>{};
}

}  // namespace errand::detail
