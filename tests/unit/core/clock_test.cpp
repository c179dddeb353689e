#include "errand/clock.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "errand/testing/fake_clock.hpp"

namespace errand {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using testing::FakeClock;

TEST(SystemClock, IsTheMachinesClock) {
  const auto before = std::chrono::system_clock::now();
  const Timestamp now = system_clock().now();
  const auto after = std::chrono::system_clock::now();
  EXPECT_GE(now, std::chrono::floor<microseconds>(before));
  EXPECT_LE(now, after);
}

TEST(FakeClock, StandsStillUntilMoved) {
  FakeClock clock;
  EXPECT_EQ(to_iso8601(clock.now()), "2025-12-01T10:00:00Z");
  EXPECT_EQ(clock.now(), FakeClock::kStart);
  clock.advance(seconds{90});
  EXPECT_EQ(to_iso8601(clock.now()), "2025-12-01T10:01:30Z");
  clock.advance(-seconds{30});
  EXPECT_EQ(to_iso8601(clock.now()), "2025-12-01T10:01:00Z");
  clock.set(Timestamp{seconds{0}});
  EXPECT_EQ(to_iso8601(clock.now()), "1970-01-01T00:00:00Z");
}

TEST(FakeClock, LosesNoAdvanceOfSeveralThreads) {
  FakeClock clock;
  constexpr int kThreads = 4;
  constexpr int kSteps = 10'000;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < kSteps; ++step) clock.advance(microseconds{1});
    });
  }
  threads.clear();
  EXPECT_EQ(clock.now(), FakeClock::kStart + microseconds{kThreads * kSteps});
}

}  // namespace
}  // namespace errand
