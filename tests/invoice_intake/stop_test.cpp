#include "invoice_intake/intake/stop.hpp"

#include <array>
#include <gtest/gtest.h>
#include <unistd.h>

namespace errand::invoices {
namespace {

using namespace std::chrono_literals;

class StopTest : public ::testing::Test {
 protected:
  StopTest() { EXPECT_EQ(pipe(watched.data()), 0); }
  ~StopTest() override {
    for (const int end : watched) close(end);
  }

  std::stop_source source;
  const Stop stop{source.get_token()};
  std::array<int, 2> watched{};
};

TEST_F(StopTest, WithoutAnyEventTheTimeEndsTheWait) {
  EXPECT_FALSE(stop.wait(watched[0], 1ms));
  EXPECT_FALSE(stop.requested());
}

TEST_F(StopTest, WhatCanBeReadEndsTheWait) {
  ASSERT_EQ(write(watched[1], "x", 1), 1);
  EXPECT_TRUE(stop.wait(watched[0], 1h));
}

TEST_F(StopTest, AStopEndsEveryWaitWhateverCanBeRead) {
  ASSERT_EQ(write(watched[1], "x", 1), 1);
  source.request_stop();
  EXPECT_TRUE(stop.requested());
  EXPECT_FALSE(stop.wait(watched[0], 1h));
  EXPECT_FALSE(stop.wait(-1, 1h));
}

TEST_F(StopTest, AStopThatCameBeforeIsKnown) {
  source.request_stop();
  const Stop later{source.get_token()};
  EXPECT_TRUE(later.requested());
  EXPECT_FALSE(later.wait(-1, 1h));
}

}  // namespace
}  // namespace errand::invoices
