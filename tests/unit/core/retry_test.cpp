#include "errand/retry.hpp"

#include <chrono>
#include <climits>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "errand/errors.hpp"

namespace errand {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kMiddle = 0.5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RetryPolicy, WaitsOneFiveAndTwentyFiveSecondsByDefault) {
  const RetryPolicy policy;
  EXPECT_EQ(policy.max_retries, 3);
  EXPECT_EQ(delay_before_retry(policy, 1, kMiddle), seconds{1});
  EXPECT_EQ(delay_before_retry(policy, 2, kMiddle), seconds{5});
  EXPECT_EQ(delay_before_retry(policy, 3, kMiddle), seconds{25});
}

TEST(RetryPolicy, WithoutJitterTheRandomNumberChangesNothing) {
  for (const double random : {0.0, 0.3, 0.999}) {
    EXPECT_EQ(delay_before_retry({}, 2, random), seconds{5});
  }
}

TEST(RetryPolicy, StaysBelowItsLongestWait) {
  const RetryPolicy policy{.max_delay = seconds{7}};
  EXPECT_EQ(delay_before_retry(policy, 1, kMiddle), seconds{1});
  EXPECT_EQ(delay_before_retry(policy, 2, kMiddle), seconds{5});
  EXPECT_EQ(delay_before_retry(policy, 3, kMiddle), seconds{7});
}

TEST(RetryPolicy, JitterSpreadsTheWaitAroundThePlainOne) {
  const RetryPolicy policy{.delay = milliseconds{10'000}, .jitter = 0.1};
  EXPECT_EQ(delay_before_retry(policy, 1, 0.0), milliseconds{9'000});
  EXPECT_EQ(delay_before_retry(policy, 1, 0.25), milliseconds{9'500});
  EXPECT_EQ(delay_before_retry(policy, 1, 0.5), milliseconds{10'000});
  EXPECT_EQ(delay_before_retry(policy, 1, 0.999'999'9), milliseconds{11'000});
}

TEST(RetryPolicy, JitterDoesNotExceedTheLongestWait) {
  const RetryPolicy policy{
      .delay = seconds{10}, .multiplier = 1, .max_delay = seconds{10}, .jitter = 1};
  EXPECT_EQ(delay_before_retry(policy, 1, 0.0), seconds{0});
  EXPECT_EQ(delay_before_retry(policy, 1, 0.75), seconds{10});
  EXPECT_EQ(delay_before_retry(policy, 1, 0.999), seconds{10});
}

TEST(RetryPolicy, WaitsAYearAtMostWhateverTheNumbers) {
  EXPECT_EQ(delay_before_retry({.multiplier = 1e300}, 2, kMiddle), days{365});
  EXPECT_EQ(delay_before_retry({.multiplier = 1e300}, INT_MAX, kMiddle), days{365});
  EXPECT_EQ(delay_before_retry({.multiplier = 1e300, .jitter = 1}, 9, 0.999), days{365});
  EXPECT_EQ(delay_before_retry({.delay = milliseconds::max()}, 1, kMiddle), days{365});
  EXPECT_EQ(delay_before_retry({.delay = milliseconds::max(), .max_delay = milliseconds::max()}, 3,
                               kMiddle),
            days{365});
  EXPECT_EQ(delay_before_retry({.multiplier = 1e300, .max_delay = seconds{9}}, 5, kMiddle),
            seconds{9});
}

TEST(RetryPolicy, NoDelayStaysNoDelay) {
  EXPECT_EQ(delay_before_retry({.delay = milliseconds{0}, .multiplier = 1e300}, 50, kMiddle),
            milliseconds{0});
  EXPECT_EQ(delay_before_retry({.delay = milliseconds{-5}}, 1, kMiddle), milliseconds{0});
}

TEST(RetryPolicy, IsNeverNegativeForRetryNumbersOutOfRange) {
  EXPECT_EQ(delay_before_retry({}, 0, kMiddle), seconds{1});
  EXPECT_EQ(delay_before_retry({}, INT_MIN, kMiddle), seconds{1});
}

TEST(RetryPolicy, IsValidWithinItsBounds) {
  EXPECT_NO_THROW(validate(RetryPolicy{}));
  EXPECT_NO_THROW(validate({.max_retries = 0,
                            .delay = milliseconds{0},
                            .multiplier = 1,
                            .max_delay = milliseconds{0},
                            .jitter = 0}));
  EXPECT_NO_THROW(validate({.max_retries = 1'000'000,
                            .delay = milliseconds::max(),
                            .multiplier = 1e300,
                            .max_delay = milliseconds::max(),
                            .jitter = 1}));
}

TEST(RetryPolicy, RefusesWhatIsOutsideAndNamesIt) {
  const std::pair<RetryPolicy, const char*> cases[] = {
      {{.max_retries = -1}, "max_retries"},
      {{.max_retries = 1'000'001}, "max_retries"},
      {{.delay = milliseconds{-1}}, "delay"},
      {{.multiplier = 0.99}, "multiplier"},
      {{.multiplier = 0}, "multiplier"},
      {{.multiplier = -5}, "multiplier"},
      {{.multiplier = kInfinity}, "multiplier"},
      {{.multiplier = kNaN}, "multiplier"},
      {{.max_delay = milliseconds{-1}}, "max_delay"},
      {{.jitter = -0.1}, "jitter"},
      {{.jitter = 1.1}, "jitter"},
      {{.jitter = kInfinity}, "jitter"},
      {{.jitter = kNaN}, "jitter"},
  };
  for (const auto& [policy, name] : cases) {
    try {
      validate(policy);
      ADD_FAILURE() << "must throw: " << name;
    } catch (const ValidationException& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(name));
    }
  }
}

}  // namespace
}  // namespace errand
