#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

#include "errand/engine.hpp"
#include "errand/signals.hpp"

namespace errand::testing {

/// Hears the signals of one kind.
class SignalProbe {
 public:
  SignalProbe(Engine& engine, Signal signal)
      : subscription_{engine.signals().subscribe(
            signal, [this](std::span<const TaskId> tasks) { note(tasks); })} {}

  /// Waits for a signal that names `id`, or names no task at all. False if none came.
  [[nodiscard]] bool hears_of(TaskId id) {
    std::unique_lock lock{mutex_};
    return heard_.wait_for(lock, kPatience, [&] {
      return unnamed_ || std::find(named_.begin(), named_.end(), id) != named_.end();
    });
  }

  /// Waits for any signal.
  [[nodiscard]] bool hears() {
    std::unique_lock lock{mutex_};
    return heard_.wait_for(lock, kPatience, [&] { return unnamed_ || !named_.empty(); });
  }

 private:
  /// Only a failing test waits that long.
  static constexpr std::chrono::seconds kPatience{20};

  void note(std::span<const TaskId> tasks) {
    const std::lock_guard lock{mutex_};
    if (tasks.empty()) unnamed_ = true;
    named_.insert(named_.end(), tasks.begin(), tasks.end());
    heard_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable heard_;
  bool unnamed_ = false;
  std::vector<TaskId> named_;
  Subscription subscription_;
};

}  // namespace errand::testing
