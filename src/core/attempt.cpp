#include "core/attempt.hpp"

#include <algorithm>
#include <utility>

namespace errand::detail {

Outcome after_failure(const RetryPolicy& policy, int attempt, Failure failure, double random) {
  const bool used_up = attempt > policy.max_retries && failure.kind != FailureKind::recoverable;
  if (failure.kind == FailureKind::unrecoverable || used_up) {
    return Failed{std::move(failure.error)};
  }
  const auto after =
      failure.kind == FailureKind::retry_later
          ? std::clamp(failure.after, std::chrono::milliseconds{0}, kLongestRetryDelay)
          : delay_before_retry(policy, attempt, random);
  return Retried{std::move(failure.error), after};
}

}  // namespace errand::detail
