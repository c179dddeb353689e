#include "worker/prefetch.hpp"

#include <algorithm>

namespace errand::detail {
namespace {

/// Weight of the newest duration: the mean follows a change within some ten tasks.
constexpr double kWeight = 0.1;

/// No handler is quicker, by the time it was handed its task.
constexpr double kLeastNs = 100;

}  // namespace

void Prefetch::observe(std::chrono::nanoseconds duration) noexcept {
  const double ns = std::max(static_cast<double>(duration.count()), kLeastNs);
  mean_ns_ = mean_ns_ == 0 ? ns : mean_ns_ + kWeight * (ns - mean_ns_);
}

std::size_t Prefetch::size(std::chrono::nanoseconds busy_for) const noexcept {
  if (mean_ns_ == 0 || busy_for > kWindow) return 0;
  const double window_ns = std::chrono::nanoseconds{kWindow}.count();
  const double starts = window_ns / mean_ns_ * static_cast<double>(concurrency_);
  return starts >= static_cast<double>(most_) ? most_ : static_cast<std::size_t>(starts);
}

}  // namespace errand::detail
