#include "client/completion_waiter.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "errand/errors.hpp"

#include "core/block_signals.hpp"

namespace errand::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kFullGapFrom = 5000;
constexpr milliseconds kPauseAfterError{200};

}  // namespace

microseconds read_gap(std::size_t waiting, milliseconds poll_interval) noexcept {
  const auto share = static_cast<std::int64_t>(std::min(waiting, kFullGapFrom));
  return microseconds{poll_interval} * share / static_cast<std::int64_t>(kFullGapFrom);
}

CompletionWaiter::CompletionWaiter(Engine& engine, WaitOptions options)
    : engine_{engine}, options_{options} {}

CompletionWaiter::~CompletionWaiter() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  subscription_.reset();
  give_up(std::make_exception_ptr(Error{"the client was destroyed while this future waited"}));
}

CompletionWaiter::Added CompletionWaiter::add(TaskId id, Callback callback, By by,
                                              Steady::time_point submitted) {
  std::call_once(started_, [this] { start(); });
  const std::lock_guard lock{mutex_};
  const bool looks = submitted <= last_signal_ || !engine_.signals().reaches_other_processes();
  const Ticket ticket = ++last_ticket_;
  waiting_[id].push_back(Entry{ticket, std::move(callback), by});
  if (looks) {
    to_ask_.insert(id);
    wake_.notify_one();
  }
  return {ticket, looks};
}

void CompletionWaiter::look_for(TaskId id) {
  const std::lock_guard lock{mutex_};
  to_ask_.insert(id);
  wake_.notify_one();
}

bool CompletionWaiter::remove(TaskId id, Ticket ticket) {
  const std::lock_guard lock{mutex_};
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return false;
  const auto removed =
      std::erase_if(found->second, [&](const Entry& entry) { return entry.ticket == ticket; });
  if (found->second.empty()) waiting_.erase(found);
  return removed > 0;
}

void CompletionWaiter::start() {
  // Not under mutex_: signals are delivered under a lock of the engine's, and take mutex_ then.
  subscription_ = engine_.signals().subscribe(
      Signal::completion, [this](const SignalEvent& event) { on_signal(event); });
  last_full_read_ = Steady::now();
  {
    const std::lock_guard lock{mutex_};
    last_signal_ = Steady::now();
  }
  const BlockSignals inherited;
  thread_ = std::thread{[this] { run(); }};
}

void CompletionWaiter::on_signal(const SignalEvent& event) {
  std::vector<Entry> answered;
  bool concerns_us = false;
  {
    const std::lock_guard lock{mutex_};
    last_signal_ = Steady::now();
    if (waiting_.empty()) return;
    if (event.finish != nullptr) answered = take_by_whoever(event.finish->id);
    if (event.tasks.empty()) concerns_us = ask_all_ = true;
    for (const TaskId& id : event.tasks) {
      if (waiting_.contains(id)) {
        to_ask_.insert(id);
        concerns_us = true;
      }
    }
  }
  if (concerns_us) wake_.notify_one();
  for (const Entry& entry : answered) entry.callback(event.finish, nullptr);
}

std::vector<CompletionWaiter::Entry> CompletionWaiter::take_by_whoever(TaskId id) {
  std::vector<Entry> taken;
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return taken;
  std::vector<Entry>& entries = found->second;
  const auto rest = std::partition(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return entry.by == By::waiter; });
  taken.assign(std::move_iterator{rest}, std::move_iterator{entries.end()});
  entries.erase(rest, entries.end());
  if (entries.empty()) waiting_.erase(found);
  return taken;
}

void CompletionWaiter::run() {
  while (true) {
    const std::vector<TaskId> ids = next_question();
    if (ids.empty()) return;
    try {
      answer(engine_.queue().finished(ids));
    } catch (const StorageException& error) {
      if (error.retry() == StorageException::Retry::useless) {
        give_up(std::current_exception());
        continue;
      }
      std::unique_lock lock{mutex_};
      for (const TaskId& id : ids) {
        if (waiting_.contains(id)) to_ask_.insert(id);
      }
      wake_.wait_for(lock, kPauseAfterError, [this] { return stopping_; });
    } catch (const std::exception&) {
      give_up(std::current_exception());
    }
  }
}

std::vector<TaskId> CompletionWaiter::next_question() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    if (waiting_.empty()) {
      to_ask_.clear();
      ask_all_ = false;
      wake_.wait(lock);
      continue;
    }
    const auto now = Steady::now();
    const auto interval = engine_.signals().reaches_other_processes() ? options_.fallback_interval
                                                                      : options_.poll_interval;
    const auto full_read_due = last_full_read_ + interval;
    const bool all = ask_all_ || now >= full_read_due;
    if (!all && to_ask_.empty()) {
      wake_.wait_until(lock, full_read_due);
      continue;
    }
    const auto read_due = last_read_ + read_gap(waiting_.size(), options_.poll_interval);
    if (now < read_due) {
      wake_.wait_until(lock, read_due);
      continue;
    }
    std::vector<TaskId> ids;
    if (all) {
      ids.reserve(waiting_.size());
      for (const auto& [id, entries] : waiting_) ids.push_back(id);
      last_full_read_ = now;
      ask_all_ = false;
    } else {
      for (const TaskId& id : to_ask_) {
        if (waiting_.contains(id)) ids.push_back(id);
      }
    }
    to_ask_.clear();
    if (ids.empty()) continue;
    last_read_ = now;
    return ids;
  }
  return {};
}

void CompletionWaiter::answer(std::span<const Finish> finishes) {
  for (const Finish& finish : finishes) {
    std::vector<Entry> entries;
    {
      const std::lock_guard lock{mutex_};
      const auto found = waiting_.find(finish.id);
      if (found == waiting_.end()) continue;
      entries = std::move(found->second);
      waiting_.erase(found);
    }
    for (const Entry& entry : entries) entry.callback(&finish, nullptr);
  }
}

void CompletionWaiter::give_up(const std::exception_ptr& error) {
  std::unordered_map<TaskId, std::vector<Entry>> abandoned;
  {
    const std::lock_guard lock{mutex_};
    abandoned.swap(waiting_);
  }
  for (const auto& [id, entries] : abandoned) {
    for (const Entry& entry : entries) entry.callback(nullptr, error);
  }
}

}  // namespace errand::detail
