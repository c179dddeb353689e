#pragma once

#include <chrono>

#include "errand/export.hpp"

namespace errand {

/// How often, and after which waits, a failing task is tried again.
struct ERRAND_EXPORT RetryPolicy {
  int max_retries = 3;                     ///< attempts after the first; 0: none
  std::chrono::milliseconds delay{1000};   ///< before the first retry
  double multiplier = 5.0;                 ///< each further wait is this much longer
  std::chrono::milliseconds max_delay{0};  ///< no wait is longer; 0: no such bound
  double jitter = 0.0;                     ///< 0.1: each wait is up to 10 % shorter or longer

  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

/// No wait for a retry is longer, whatever asks for it.
inline constexpr std::chrono::milliseconds kLongestRetryDelay = std::chrono::days{365};

/// The wait before retry number `retry` (from 1): 1 s, 5 s, 25 s by default. `random` in [0, 1)
/// places it within the jitter. Never negative.
[[nodiscard]] ERRAND_EXPORT std::chrono::milliseconds delay_before_retry(const RetryPolicy& policy,
                                                                         int retry, double random);

/// Throws ValidationException unless every number is finite, not negative, multiplier is at least
/// 1 and jitter at most 1.
ERRAND_EXPORT void validate(const RetryPolicy& policy);

}  // namespace errand
