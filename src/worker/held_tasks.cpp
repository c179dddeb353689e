#include "worker/held_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace errand::detail {
namespace {

/// Of the newest payload in their mean size.
constexpr double kNewestShare = 0.1;

/// So many outcomes may wait for a storage that does not take them; then no more work is begun.
constexpr std::size_t kMostUnsettled = 10'000;

/// Results of this size go into one transaction; others wait for it.
constexpr std::size_t kSettledBytes = std::size_t{8} << 20;

std::size_t payload_bytes(const Claim& claim) { return claim.envelope.body().size(); }

std::size_t result_bytes(const Settlement& settlement) {
  const auto* completed = std::get_if<Completed>(&settlement.outcome);
  return completed != nullptr ? completed->result.size() : 0;
}

}  // namespace

std::size_t HeldTasks::wanted() {
  const std::lock_guard lock{mutex_};
  const std::size_t busy = running_ + settling_;
  const bool all_busy = busy >= concurrency_;
  const auto busy_for = all_busy ? Steady::now() - last_start_ : Steady::duration{0};
  const std::size_t prefetch = prefetch_.size(busy_for);
  const std::size_t capacity = concurrency_ + prefetch;
  const std::size_t held = busy + buffer_.size();
  if (held >= capacity || entries_.size() >= held + kMostUnsettled) return 0;
  // Half a buffer at a time: claiming task by task would cost a transaction each.
  const std::size_t room = capacity - held;
  if (room < std::max<std::size_t>(1, prefetch / 2)) return 0;
  // Handlers are kept busy, however large their payloads are.
  const std::size_t at_least = held < concurrency_ ? 1 : 0;
  return std::min(room, std::max(room_in_bytes(), at_least));
}

std::size_t HeldTasks::free_handlers() {
  const std::lock_guard lock{mutex_};
  const std::size_t taken = running_ + settling_ + buffer_.size();
  return concurrency_ > taken && !closed_ ? concurrency_ - taken : 0;
}

std::size_t HeldTasks::room_in_bytes() const {
  if (held_bytes_ >= max_bytes_) return 0;
  const auto bytes = static_cast<double>(max_bytes_ - held_bytes_);
  return static_cast<std::size_t>(bytes / std::max(mean_bytes_, 1.0));
}

void HeldTasks::add(std::vector<Claim> claims, Steady::time_point since) {
  const bool is_one = claims.size() == 1;
  std::vector<std::shared_ptr<HeldTask>> overtaken;
  {
    const std::lock_guard lock{mutex_};
    const auto now = Steady::now();
    for (Claim& claim : claims) {
      const TaskId id = claim.lease.id;
      // The same task may be here already: settled, but not forgotten yet, or in an attempt whose
      // lease was lost unnoticed. Ends are told apart by their version.
      if (const auto found = entries_.find(id); found != entries_.end()) {
        const bool ended = found->second->stage_ == Stage::ended;
        std::shared_ptr<HeldTask> earlier = remove(found);
        if (!ended) overtaken.push_back(std::move(earlier));
      }
      if (claim.crashes >= kSuspectCrashes) ++suspects_;
      const std::size_t bytes = payload_bytes(claim);
      held_bytes_ += bytes;
      mean_bytes_ += (static_cast<double>(bytes) - mean_bytes_) * kNewestShare;
      const bool cancel = claim.cancel_requested;
      auto task = std::make_shared<HeldTask>(std::move(claim));
      task->held_since_ = since;
      task->since_ = now;
      if (cancel) task->ask_to_stop(StopReason::cancel);
      entries_.emplace(id, task);
      buffer_.push_back(std::move(task));
    }
  }
  if (is_one) {
    buffered_.notify_one();
  } else {
    buffered_.notify_all();
  }
  for (const auto& task : overtaken) task->ask_to_stop(StopReason::lease_lost);
}

bool HeldTasks::holds_suspect() {
  const std::lock_guard lock{mutex_};
  return suspects_ > 0;
}

bool HeldTasks::empty() {
  const std::lock_guard lock{mutex_};
  return entries_.empty() && running_ == 0 && settling_ == 0;
}

std::shared_ptr<HeldTask> HeldTasks::next() {
  std::shared_ptr<HeldTask> task;
  bool low = false;
  {
    std::unique_lock lock{mutex_};
    buffered_.wait(lock, [this] { return closed_ || !buffer_.empty(); });
    if (closed_) return nullptr;
    task = std::move(buffer_.front());
    buffer_.pop_front();
    ++running_;
    last_start_ = Steady::now();
    task->stage_ = Stage::running;
    task->since_ = last_start_;
    low = buffer_.size() <= prefetch_.size(Steady::duration{0}) / 2;
  }
  if (low) notify_change();
  return task;
}

void HeldTasks::finish(const std::shared_ptr<HeldTask>& task, Outcome outcome) {
  bool low = false;
  {
    const std::lock_guard lock{mutex_};
    if (task->stage_ == Stage::running) {
      prefetch_.observe(Steady::now() - task->since_);
      end(*task, std::move(outcome));
    }
    low = stop_running(*task);
  }
  if (low) notify_change();
}

bool HeldTasks::take_alone(HeldTask& task) {
  const std::lock_guard lock{mutex_};
  if (entries_.size() != 1 || task.stage_ != Stage::running) return false;
  prefetch_.observe(Steady::now() - task.since_);
  end(task);
  ++settling_;
  stop_running(task);
  return true;
}

void HeldTasks::settled_alone() {
  {
    const std::lock_guard lock{mutex_};
    --settling_;
  }
  ended_or_closed_.notify_one();
  notify_change();
}

void HeldTasks::drop(const std::shared_ptr<HeldTask>& task) {
  bool changed = false;
  {
    const std::lock_guard lock{mutex_};
    if (task->stage_ == Stage::running) {
      prefetch_.observe(Steady::now() - task->since_);
      remove(entries_.find(task->claim().lease.id));
    }
    changed = stop_running(*task) || entries_.empty();
  }
  if (changed) notify_change();
}

bool HeldTasks::stop_running(const HeldTask& task) {
  --running_;
  if (task.claim().crashes >= kSuspectCrashes) --suspects_;
  if (running_ == 0) idle_.notify_all();
  return buffer_.size() <= prefetch_.size(Steady::duration{0}) / 2;
}

bool HeldTasks::is_all_taken() const { return ended_closed_ && ended_.empty() && settling_ == 0; }

std::optional<std::vector<Settlement>> HeldTasks::take_ended(Steady::time_point until) {
  std::unique_lock lock{mutex_};
  const auto ready = [this] {
    return is_all_taken() || !ended_.empty() || std::exchange(settler_called_, false);
  };
  if (until == Steady::time_point::max()) {
    ended_or_closed_.wait(lock, ready);  // waiting until the end of time overflows
  } else {
    ended_or_closed_.wait_until(lock, until, ready);
  }
  if (is_all_taken()) return std::nullopt;
  std::size_t bytes = 0;
  auto end = ended_.begin();
  while (end != ended_.end() && bytes < kSettledBytes) bytes += result_bytes(*end++);
  if (end == ended_.end()) return std::exchange(ended_, {});
  std::vector<Settlement> taken{std::move_iterator{ended_.begin()}, std::move_iterator{end}};
  ended_.erase(ended_.begin(), end);
  return taken;
}

void HeldTasks::call_settler() {
  {
    const std::lock_guard lock{mutex_};
    settler_called_ = true;
  }
  ended_or_closed_.notify_one();
}

void HeldTasks::forget(const std::vector<Settlement>& settled) {
  bool none_left = false;
  {
    const std::lock_guard lock{mutex_};
    for (const Settlement& settlement : settled) {
      const auto found = find(settlement.lease, Stage::ended);
      if (found != entries_.end()) entries_.erase(found);
    }
    none_left = entries_.empty();
  }
  if (none_left) notify_change();
}

std::vector<Lease> HeldTasks::leases(std::chrono::milliseconds at_least) {
  const std::lock_guard lock{mutex_};
  std::vector<Lease> leases;
  leases.reserve(entries_.size());
  const auto newest = Steady::now() - at_least;
  for (const auto& [id, task] : entries_) {
    if (task->held_since_ <= newest) leases.push_back(task->claim().lease);
  }
  return leases;
}

std::vector<ProgressReport> HeldTasks::take_progress() {
  const std::lock_guard lock{mutex_};
  std::vector<ProgressReport> reports;
  for (const auto& [id, task] : entries_) {
    if (task->stage_ != Stage::running) continue;
    if (auto progress = task->take_progress()) {
      reports.push_back(ProgressReport{task->claim().lease, *std::move(progress)});
    }
  }
  return reports;
}

void HeldTasks::give_progress_back(const std::vector<ProgressReport>& reports) {
  const std::lock_guard lock{mutex_};
  for (const ProgressReport& report : reports) {
    const auto found = find(report.lease, Stage::running);
    if (found != entries_.end()) found->second->give_progress_back(report.progress);
  }
}

std::string HeldTasks::name_of(const Lease& lease) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(lease.id);
  const bool is_message = found != entries_.end() && !found->second->claim().message_id.empty();
  return is_message ? "message " + found->second->claim().message_id
                    : "task " + lease.id.to_string();
}

bool HeldTasks::lost(const Lease& lease) {
  std::shared_ptr<HeldTask> task;
  {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(lease.id);
    if (found == entries_.end() || found->second->claim().lease.version != lease.version ||
        found->second->stage_ == Stage::ended) {
      return false;  // an ended one is settled about now, which will find out by itself
    }
    task = remove(found);
  }
  // Stop callbacks are the handlers' code: not under the lock. The same below.
  task->ask_to_stop(StopReason::lease_lost);
  return true;
}

void HeldTasks::cancel_requested(const Lease& lease) {
  std::shared_ptr<HeldTask> task;
  {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(lease.id);
    if (found == entries_.end() || found->second->claim().lease.version != lease.version) return;
    task = found->second;
  }
  task->ask_to_stop(StopReason::cancel);
}

void HeldTasks::release_stale(std::chrono::milliseconds age) {
  const std::lock_guard lock{mutex_};
  const auto oldest = Steady::now() - age;
  std::erase_if(buffer_, [&](const std::shared_ptr<HeldTask>& task) {
    if (task->since_ > oldest) return false;
    if (task->claim().crashes >= kSuspectCrashes) --suspects_;
    end(*task, Released{});
    return true;
  });
}

std::size_t HeldTasks::running() {
  const std::lock_guard lock{mutex_};
  return running_;
}

void HeldTasks::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    for (const std::shared_ptr<HeldTask>& task : std::exchange(buffer_, {})) {
      if (task->claim().crashes >= kSuspectCrashes) --suspects_;
      end(*task, Released{});
    }
  }
  buffered_.notify_all();
}

bool HeldTasks::wait_until_idle(std::chrono::milliseconds timeout) {
  std::unique_lock lock{mutex_};
  return idle_.wait_for(lock, timeout, [this] { return running_ == 0; });
}

void HeldTasks::ask_running_to_stop() {
  std::vector<std::shared_ptr<HeldTask>> running;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [id, task] : entries_) {
      if (task->stage_ == Stage::running) running.push_back(task);
    }
  }
  for (const auto& task : running) task->ask_to_stop(StopReason::shutdown);
}

std::size_t HeldTasks::abandon_running() {
  const std::lock_guard lock{mutex_};
  for (const auto& [id, task] : entries_) {
    if (task->stage_ == Stage::running) end(*task, Released{});
  }
  return running_;
}

void HeldTasks::close_ended() {
  {
    const std::lock_guard lock{mutex_};
    ended_closed_ = true;
  }
  ended_or_closed_.notify_all();
}

HeldTasks::Entries::iterator HeldTasks::find(const Lease& lease, Stage stage) {
  const auto found = entries_.find(lease.id);
  if (found == entries_.end() || found->second->stage_ != stage ||
      found->second->claim().lease.version != lease.version) {
    return entries_.end();
  }
  return found;
}

std::shared_ptr<HeldTask> HeldTasks::remove(Entries::iterator entry) {
  std::shared_ptr<HeldTask> task = std::move(entry->second);
  const Stage stage = std::exchange(task->stage_, Stage::dropped);
  if (stage != Stage::ended) held_bytes_ -= payload_bytes(task->claim());
  if (stage == Stage::buffered) {
    std::erase(buffer_, task);
    if (task->claim().crashes >= kSuspectCrashes) --suspects_;
  }
  entries_.erase(entry);
  return task;
}

void HeldTasks::end(HeldTask& task) {
  task.stage_ = Stage::ended;
  held_bytes_ -= payload_bytes(task.claim());
}

void HeldTasks::end(HeldTask& task, Outcome outcome) {
  end(task);
  ended_.push_back(Settlement{task.claim().lease, std::move(outcome)});
  ended_or_closed_.notify_one();
}

void HeldTasks::notify_change() const {
  if (changed_) changed_();
}

}  // namespace errand::detail
