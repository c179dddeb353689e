#include "worker/prefetch.hpp"

#include <gtest/gtest.h>

namespace errand::detail {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kFree{0};

TEST(Prefetch, IsNothingBeforeADurationIsKnown) {
  const Prefetch prefetch{4, 1000};
  EXPECT_EQ(prefetch.size(kFree), 0U);
}

TEST(Prefetch, IsWhatTheHandlersWillStartWithinTheWindow) {
  Prefetch prefetch{4, 1000};
  prefetch.observe(milliseconds{1});
  EXPECT_EQ(prefetch.size(kFree), 200U) << "50 ms of tasks of 1 ms, for each of 4 handlers";
}

TEST(Prefetch, LeavesSlowTasksToOthers) {
  Prefetch prefetch{2, 1000};
  prefetch.observe(milliseconds{101});
  EXPECT_EQ(prefetch.size(kFree), 0U);
}

TEST(Prefetch, HasABound) {
  Prefetch prefetch{8, 1000};
  prefetch.observe(nanoseconds{0});
  EXPECT_EQ(prefetch.size(kFree), 1000U);
  const Prefetch none{8, 0};
  EXPECT_EQ(none.size(kFree), 0U);
}

TEST(Prefetch, IsNothingWhileAllHandlersAreBusyForLong) {
  Prefetch prefetch{1, 1000};
  prefetch.observe(milliseconds{1});
  EXPECT_EQ(prefetch.size(Prefetch::kWindow), 50U);
  EXPECT_EQ(prefetch.size(Prefetch::kWindow + nanoseconds{1}), 0U);
}

TEST(Prefetch, FollowsAChangeWithinSomeTasks) {
  Prefetch prefetch{1, 1000};
  prefetch.observe(microseconds{100});
  EXPECT_EQ(prefetch.size(kFree), 500U);
  prefetch.observe(milliseconds{50});
  EXPECT_LT(prefetch.size(kFree), 500U);
  EXPECT_GT(prefetch.size(kFree), 1U) << "one slow task is not a change";
  for (int i = 0; i < 60; ++i) prefetch.observe(milliseconds{50});
  EXPECT_EQ(prefetch.size(kFree), 1U);
  for (int i = 0; i < 200; ++i) prefetch.observe(microseconds{100});
  EXPECT_GT(prefetch.size(kFree), 490U);
}

TEST(Prefetch, StandsAnyDuration) {
  Prefetch prefetch{1, 1000};
  prefetch.observe(hours{1'000'000});
  EXPECT_EQ(prefetch.size(kFree), 0U);
  Prefetch backwards{1, 1000};
  backwards.observe(nanoseconds{-1});
  EXPECT_EQ(backwards.size(kFree), 1000U);
}

}  // namespace
}  // namespace errand::detail
