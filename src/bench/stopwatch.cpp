#include "bench/stopwatch.hpp"

#include <algorithm>
#include <cmath>

namespace errand::bench {

double Samples::percentile_ms(double percent) {
  if (seconds_.empty()) return 0;
  std::sort(seconds_.begin(), seconds_.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(seconds_.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return seconds_[index] * 1000;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace errand::bench
