#pragma once

#include <chrono>
#include <cstddef>

namespace errand::detail {

/// How many tasks a worker keeps claimed beyond those it runs: about as many as it will start
/// within the next moment. Quick tasks then never wait for the storage, and slow ones are left to
/// workers that are idle. Not thread-safe.
class Prefetch {
 public:
  Prefetch(std::size_t concurrency, std::size_t most) noexcept
      : concurrency_{concurrency}, most_{most} {}

  /// A handler took this long.
  void observe(std::chrono::nanoseconds duration) noexcept;

  /// `busy_for`: how long the handler that started last has been running, if none is free.
  [[nodiscard]] std::size_t size(std::chrono::nanoseconds busy_for) const noexcept;

  static constexpr std::chrono::milliseconds kWindow{50};

 private:
  std::size_t concurrency_;
  std::size_t most_;
  double mean_ns_ = 0;  ///< of the newest durations; 0: none yet
};

}  // namespace errand::detail
