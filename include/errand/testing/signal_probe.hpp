#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "errand/engine.hpp"
#include "errand/signals.hpp"
#include "errand/task_queue.hpp"

namespace errand::testing {

/// Hears the signals of one kind.
class SignalProbe {
 public:
  SignalProbe(Engine& engine, Signal signal) : SignalProbe{engine.signals(), signal} {}
  SignalProbe(Signals& signals, Signal signal)
      : signals_{signals},
        subscription_{
            signals.subscribe(signal, [this](const SignalEvent& event) { note(event); })} {}

  /// Waits for a signal that names `id`, or names no task at all. False if none came.
  [[nodiscard]] bool hears_of(TaskId id) {
    std::unique_lock lock{mutex_};
    return heard_.wait_for(lock, kPatience, [&] {
      return unnamed_ || std::find(named_.begin(), named_.end(), id) != named_.end();
    });
  }

  /// What a signal has told of this task's end; nothing if they named it only.
  [[nodiscard]] std::optional<Finish> finish_of(TaskId id) {
    const std::lock_guard lock{mutex_};
    const auto found = std::ranges::find(finishes_, id, &Finish::id);
    return found == finishes_.end() ? std::nullopt : std::optional{*found};
  }

  /// Waits for a signal that names the queue, or names none at all. False if none came.
  [[nodiscard]] bool hears_of_queue(const std::string& queue) {
    std::unique_lock lock{mutex_};
    return heard_.wait_for(lock, kPatience, [&] {
      return any_queue_ || std::find(queues_.begin(), queues_.end(), queue) != queues_.end();
    });
  }

  /// Waits until signals of other processes arrive, and forgets what came until then: engines that
  /// begin to listen say that anything may have happened. False if they never do.
  [[nodiscard]] bool hears_only_what_follows() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!signals_.reaches_other_processes()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    const std::lock_guard lock{mutex_};
    unnamed_ = false;
    any_queue_ = false;
    named_.clear();
    queues_.clear();
    finishes_.clear();
    return true;
  }

  /// Waits for any signal.
  [[nodiscard]] bool hears() {
    std::unique_lock lock{mutex_};
    return heard_.wait_for(lock, kPatience, [&] { return unnamed_ || !named_.empty(); });
  }

 private:
  /// Only a failing test waits that long.
  static constexpr std::chrono::seconds kPatience{20};

  void note(const SignalEvent& event) {
    const std::lock_guard lock{mutex_};
    if (event.tasks.empty()) unnamed_ = true;
    if (event.queues.empty()) any_queue_ = true;
    named_.insert(named_.end(), event.tasks.begin(), event.tasks.end());
    queues_.insert(queues_.end(), event.queues.begin(), event.queues.end());
    if (event.finish != nullptr) finishes_.push_back(*event.finish);
    heard_.notify_all();
  }

  Signals& signals_;
  std::mutex mutex_;
  std::condition_variable heard_;
  bool unnamed_ = false;
  bool any_queue_ = false;
  std::vector<TaskId> named_;
  std::vector<std::string> queues_;
  std::vector<Finish> finishes_;
  Subscription subscription_;
};

}  // namespace errand::testing
