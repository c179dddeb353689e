#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

namespace errand::bench {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Stopwatch(Clock::time_point start = Clock::now()) : start_{start} {}

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] double rate(std::size_t count) const {
    return static_cast<double>(count) / seconds();
  }

 private:
  Clock::time_point start_;
};

/// When something happened for the first time. Any thread may note it.
class FirstTime {
 public:
  void note() noexcept {
    if (ticks_.load(std::memory_order_relaxed) != kNever) return;
    Stopwatch::Clock::rep never = kNever;
    ticks_.compare_exchange_strong(never, Stopwatch::Clock::now().time_since_epoch().count());
  }
  void forget() noexcept { ticks_ = kNever; }

  /// Runs since then; from now on, if it has not happened.
  [[nodiscard]] Stopwatch watch() const {
    const Stopwatch::Clock::rep ticks = ticks_;
    if (ticks == kNever) return Stopwatch{};
    return Stopwatch{Stopwatch::Clock::time_point{Stopwatch::Clock::duration{ticks}}};
  }

 private:
  static constexpr Stopwatch::Clock::rep kNever = -1;

  std::atomic<Stopwatch::Clock::rep> ticks_ = kNever;
};

/// Durations of one operation, for percentiles.
class Samples {
 public:
  void add(const Stopwatch& watch) { seconds_.push_back(watch.seconds()); }
  void add(std::chrono::duration<double> time) { seconds_.push_back(time.count()); }
  [[nodiscard]] double percentile_ms(double percent);

 private:
  std::vector<double> seconds_;
};

/// The middle one; with an even number, the lower of the two.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace errand::bench
