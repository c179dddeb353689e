#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace errand::bench {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double rate(std::size_t count) const {
    return static_cast<double>(count) / seconds();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
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
