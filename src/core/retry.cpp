#include "errand/retry.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "errand/errors.hpp"

namespace errand {
namespace {

[[noreturn]] void refuse(const std::string& rule, const std::string& found) {
  throw ValidationException{"retry policy: " + rule + ", and is " + found};
}

}  // namespace

std::chrono::milliseconds delay_before_retry(const RetryPolicy& policy, int retry, double random) {
  if (policy.delay <= std::chrono::milliseconds::zero()) return std::chrono::milliseconds{0};
  const std::chrono::milliseconds cap = policy.max_delay > std::chrono::milliseconds::zero()
                                            ? std::min(policy.max_delay, kLongestRetryDelay)
                                            : kLongestRetryDelay;
  const auto longest = static_cast<double>(cap.count());
  const double exponent = std::max(retry, 1) - 1;
  const double plain = std::min(
      static_cast<double>(policy.delay.count()) * std::pow(policy.multiplier, exponent), longest);
  const double spread = policy.jitter * (2 * std::clamp(random, 0.0, 1.0) - 1);
  const double wait = std::clamp(plain * (1 + spread), 0.0, longest);
  return std::chrono::milliseconds{std::llround(wait)};
}

void validate(const RetryPolicy& policy) {
  if (policy.max_retries < 0 || policy.max_retries > 1'000'000) {
    refuse("max_retries must be 0 to 1000000", std::to_string(policy.max_retries));
  }
  if (policy.delay.count() < 0) {
    refuse("delay must not be negative", std::to_string(policy.delay.count()) + " ms");
  }
  if (!std::isfinite(policy.multiplier) || policy.multiplier < 1) {
    refuse("multiplier must be 1 or more", std::to_string(policy.multiplier));
  }
  if (policy.max_delay.count() < 0) {
    refuse("max_delay must not be negative", std::to_string(policy.max_delay.count()) + " ms");
  }
  if (!(policy.jitter >= 0 && policy.jitter <= 1)) {
    refuse("jitter must be between 0 and 1", std::to_string(policy.jitter));
  }
}

}  // namespace errand
