#include "engine/redis/hand_over.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "errand/errors.hpp"

#include "engine/redis/claims.hpp"
#include "engine/redis/entry.hpp"

namespace errand::redis {
namespace {

/// Up to the next line break, which is taken away, too.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

}  // namespace

Subscription HandOver::stand_by(const std::string& worker, Taker taker) {
  {
    const std::lock_guard lock{mutex_};
    workers_.insert_or_assign(worker, Worker{.taker = std::move(taker)});
  }
  database_.notifications().hear_hand_overs([this](std::string_view message) { deliver(message); });
  return Subscription{[this, worker] { leave(worker); }};
}

std::int64_t HandOver::claims(const ClaimRequest& request) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(request.worker);
  if (found == workers_.end()) return -1;
  found->second.queues = request.queues;
  found->second.lease = request.lease;
  found->second.stands_by = request.stands_by > 0;
  if (std::exchange(found->second.may_have_missed, false)) {
    throw StorageException{"Redis could not tell this worker of tasks that were handed to it",
                           StorageException::Retry::in_doubt};
  }
  return static_cast<std::int64_t>(request.stands_by);
}

Command HandOver::settles(std::span<const Settlement> settlements) {
  Command again;
  const std::lock_guard lock{mutex_};
  if (handed_.empty()) return again;
  for (const Settlement& settlement : settlements) {
    const auto handed = handed_.extract(settlement.lease.id);
    if (handed.empty() || settlements.size() > 1) continue;
    const auto worker = workers_.find(handed.mapped().worker);
    // One that has more to do by now, or gives the task back for that, does not ask for another.
    if (worker == workers_.end() || !worker->second.stands_by ||
        std::holds_alternative<Released>(settlement.outcome)) {
      continue;
    }
    again.add(handed.mapped().queue).add(worker->second.named(worker->first));
  }
  return again;
}

void HandOver::deliver(std::string_view message) {
  if (message == Notifications::kHeardAgain) {
    const std::lock_guard lock{mutex_};
    for (auto& [name, worker] : workers_) worker.may_have_missed = worker.stands_by;
    return;
  }
  const std::string worker{take_line(message)};
  const std::optional<TaskId> id = TaskId::parse(take_line(message));
  const std::string_view length = take_line(message);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  // Others may publish here, too: what is no task is left alone.
  if (!id || error != std::errc{} || bytes > message.size()) return;
  const std::string_view entry = message.substr(0, bytes);
  const Entry read{entry};
  if (read.text(Entry::Field::status) != "running" || read.text(Entry::Field::worker) != worker ||
      read.integer(Entry::Field::version) <= 0) {
    return;
  }
  const std::string_view payload = message.substr(bytes);
  Claim claim = read_claim(*id, entry, payload.empty() ? std::nullopt : std::optional{payload},
                           /*bundled=*/false);
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  handed_.insert_or_assign(*id, Handed{.worker = worker, .queue = claim.queue});
  found->second.taker(std::move(claim));
}

void HandOver::leave(const std::string& worker) {
  const std::unique_lock leaving{leaving_};
  Worker gone;
  {
    const std::lock_guard lock{mutex_};
    const auto found = workers_.extract(worker);
    if (found.empty()) return;
    gone = std::move(found.mapped());
    std::erase_if(handed_, [&](const auto& handed) { return handed.second.worker == worker; });
  }
  try {
    database_.write([&](Connection& connection) {
      for (const std::string& queue : gone.queues) {
        Command command{"ZREM"};
        command.add(database_.own_key("standby:" + queue));
        connection.run(command.add(database_.caller() + gone.named(worker)));
      }
      return true;
    });
  } catch (const StorageException&) {
    // It is not believed for long, and what it is handed until then has a lease.
  }
}

}  // namespace errand::redis
