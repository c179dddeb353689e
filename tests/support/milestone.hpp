#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace errand::testing {

/// How long a test waits for what must happen. Only a failing test waits that long.
inline constexpr std::chrono::seconds kPatience{60};

/// A point that threads reach and others wait for.
class Milestone {
 public:
  void reach() {
    // Under the lock: whoever waits may destroy this as soon as it has it.
    const std::lock_guard lock{mutex_};
    ++times_;
    reached_.notify_all();
  }

  /// Waits until it was reached that often. False: it was not, and the test must fail.
  [[nodiscard]] bool was_reached(std::size_t times = 1) {
    std::unique_lock lock{mutex_};
    return reached_.wait_for(lock, kPatience, [&] { return times_ >= times; });
  }

  /// Without waiting.
  [[nodiscard]] std::size_t times() {
    const std::lock_guard lock{mutex_};
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable reached_;
  std::size_t times_ = 0;
};

}  // namespace errand::testing
