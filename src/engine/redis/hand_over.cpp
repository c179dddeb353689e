#include "engine/redis/hand_over.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
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

/// Of a script whose answer does not come. A name that stays is not believed for long, and what its
/// worker is handed until then has a lease.
constexpr std::chrono::seconds kLongestLeave{1};

/// Those whose leases were lost are never settled here; workers that stand by have fewer.
constexpr std::size_t kMostHanded = 1000;

}  // namespace

HandOver::Naming::~Naming() {
  {
    const std::lock_guard lock{owner_.mutex_};
    --worker_->named;
  }
  owner_.changed_.notify_all();
}

std::unique_ptr<HandOver::Naming> HandOver::begin_naming(const std::shared_ptr<Worker>& worker) {
  auto naming = std::make_unique<Naming>(*this, worker);
  ++worker->named;
  return naming;
}

Subscription HandOver::stand_by(const std::string& worker, Taker taker) {
  {
    const std::lock_guard lock{mutex_};
    auto added = std::make_shared<Worker>();
    added->name = worker;
    added->taker = std::move(taker);
    workers_.insert_or_assign(worker, std::move(added));
  }
  database_.notifications().hear_hand_overs([this](std::string_view message) { deliver(message); });
  return Subscription{[this, worker] { leave(worker); }};
}

HandOver::Claiming HandOver::claims(const ClaimRequest& request) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(request.worker);
  if (found == workers_.end()) return {};
  Worker& worker = *found->second;
  worker.queues = request.queues;
  worker.lease = request.lease;
  worker.stands_by = request.stands_by > 0;
  if (std::exchange(worker.may_have_missed, false)) return {.missed = true};
  const bool hears = database_.notifications().hears_hand_overs();
  return {.stands_by = hears ? static_cast<std::int64_t>(request.stands_by) : 0,
          .naming = begin_naming(found->second)};
}

HandOver::Settling HandOver::settles(std::span<const Settlement> settlements) {
  Settling settling;
  const std::lock_guard lock{mutex_};
  if (handed_.empty()) return settling;
  for (const Settlement& settlement : settlements) {
    const auto handed = handed_.extract(settlement.lease.id);
    if (handed.empty() || settlements.size() > 1) continue;
    const auto worker = workers_.find(handed.mapped().worker);
    // One that has more to do by now, or gives the task back for that, does not ask for another.
    if (worker == workers_.end() || !worker->second->stands_by ||
        !database_.notifications().hears_hand_overs() ||
        std::holds_alternative<Released>(settlement.outcome)) {
      continue;
    }
    settling.again.add(handed.mapped().queue).add(worker->second->entry());
    settling.naming = begin_naming(worker->second);
  }
  return settling;
}

void HandOver::deliver(std::string_view message) {
  if (message == Notifications::kHeardAgain) {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, worker] : workers_) worker->may_have_missed = true;
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
  std::shared_ptr<Worker> taking;
  {
    const std::lock_guard lock{mutex_};
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return;
    taking = found->second;
    if (handed_.size() >= kMostHanded) handed_.clear();
    handed_.insert_or_assign(*id, Handed{.worker = worker, .queue = claim.queue});
    taking->takes = true;
  }
  take(taking, std::move(claim));
}

/// Without the lock: a task that comes again may make handlers' stop callbacks run.
void HandOver::take(const std::shared_ptr<Worker>& worker, Claim claim) {
  struct Taken {
    HandOver& owner;
    Worker& worker;
    ~Taken() {
      {
        const std::lock_guard lock{owner.mutex_};
        worker.takes = false;
      }
      owner.changed_.notify_all();
    }
  } const taken{*this, *worker};
  worker->taker(std::move(claim));
}

void HandOver::leave(const std::string& worker) {
  std::shared_ptr<Worker> gone;
  {
    std::unique_lock lock{mutex_};
    const auto found = workers_.extract(worker);
    if (found.empty()) return;
    gone = found.mapped();
    std::erase_if(handed_, [&](const auto& handed) { return handed.second.worker == worker; });
    changed_.wait_for(lock, kLongestLeave, [&] { return gone->named == 0; });
    changed_.wait(lock, [&] { return !gone->takes; });
  }
  try {
    database_.write([&](Connection& connection) {
      for (const std::string& queue : gone->queues) {
        Command command{"ZREM"};
        command.add(database_.own_key("standby:" + queue));
        connection.run(command.add(database_.caller() + gone->entry()));
      }
      return true;
    });
  } catch (const StorageException&) {
    // As with a script whose answer does not come.
  }
}

}  // namespace errand::redis
