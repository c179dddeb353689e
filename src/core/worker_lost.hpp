#pragma once

#include <chrono>
#include <string>

#include "errand/exception_data.hpp"
#include "errand/task_status.hpp"

namespace errand::detail {

/// If it takes a storage longer than this until leases that have run out can be changed, it stood
/// still: they may have run out only because nobody could extend them, and nobody is taken for
/// lost.
inline constexpr std::chrono::milliseconds kLongestLook{1000};

/// From the beginning of a rescue.
class Look {
 public:
  [[nodiscard]] bool took_long() const {
    return std::chrono::steady_clock::now() - began_ > kLongestLook;
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// What becomes of a task whose worker was lost, with that loss counted in `crashes`.
[[nodiscard]] constexpr TaskStatus after_lost_worker(int crashes, int max_crashes,
                                                     bool cancel_requested) noexcept {
  if (cancel_requested) return TaskStatus::cancelled;
  return crashes >= max_crashes ? TaskStatus::failed : TaskStatus::retrying;
}

/// The error of an attempt that ended with its worker.
[[nodiscard]] inline ExceptionData worker_lost(const std::string& worker, int crashes) {
  return ExceptionData{
      .class_name = "errand::WorkerLost",
      .message = "worker " + worker + " was lost while it held this task" +
                 (crashes > 1 ? " (" + std::to_string(crashes) + " times so far)" : std::string{}),
      .file = {},
      .trace = {},
      .previous = nullptr};
}

}  // namespace errand::detail
