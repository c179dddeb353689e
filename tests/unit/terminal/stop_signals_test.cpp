#include "terminal/stop_signals.hpp"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <stop_token>
#include <thread>

#include "support/milestone.hpp"

namespace errand::terminal {
namespace {

using testing::Milestone;

class StopSignalsTest : public ::testing::TestWithParam<int> {};

TEST_P(StopSignalsTest, TheFirstSignalRequestsAStop) {
  const StopSignals signals;
  EXPECT_FALSE(signals.token().stop_requested());
  Milestone stopped;
  const std::stop_callback callback{signals.token(), [&] { stopped.reach(); }};
  ASSERT_EQ(std::raise(GetParam()), 0);
  EXPECT_TRUE(stopped.was_reached());
}

TEST_P(StopSignalsTest, TheSecondSignalEndsTheProcessAtOnce) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const int number = GetParam();
  EXPECT_EXIT(
      {
        const StopSignals signals;
        static_cast<void>(std::raise(number));
        std::this_thread::sleep_for(std::chrono::milliseconds{250});  // later than the same wish
        static_cast<void>(std::raise(number));
      },
      ::testing::ExitedWithCode(128 + number), "stopped at once, by a second signal");
}

TEST_P(StopSignalsTest, TheSameWishToldTwiceIsOne) {
  const StopSignals signals;
  Milestone stopped;
  const std::stop_callback callback{signals.token(), [&] { stopped.reach(); }};
  ASSERT_EQ(std::raise(GetParam()), 0);
  ASSERT_EQ(std::raise(GetParam()), 0);
  EXPECT_TRUE(stopped.was_reached());
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignalsTest, ::testing::Values(SIGTERM, SIGINT));

void (*disposition_of(int number))(int) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler;
}

TEST(StopSignals, LeavesTheSignalsAsItFoundThem) {
  const auto before = disposition_of(SIGTERM);
  {
    const StopSignals signals;
    EXPECT_NE(disposition_of(SIGTERM), before);
    EXPECT_NE(disposition_of(SIGINT), SIG_DFL);
  }
  EXPECT_EQ(disposition_of(SIGTERM), before);
}

TEST(StopSignals, CanBeUsedAgainAfterASignal) {
  for (int i = 0; i < 2; ++i) {
    const StopSignals signals;
    EXPECT_FALSE(signals.token().stop_requested());
    Milestone stopped;
    const std::stop_callback callback{signals.token(), [&] { stopped.reach(); }};
    ASSERT_EQ(std::raise(SIGTERM), 0);
    EXPECT_TRUE(stopped.was_reached());
  }
}

}  // namespace
}  // namespace errand::terminal
