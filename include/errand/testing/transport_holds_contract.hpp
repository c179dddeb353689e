#pragma once

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

#include "errand/testing/transport_fixture.hpp"

/// Whose a delivered message is, and until when.
namespace errand::testing {

TEST_P(TransportContract, ADeliveredMessageIsNobodyElsesUntilTheTimeoutHasPassed) {
  const std::unique_ptr<Transport> another = open();
  send({"1"});
  static_cast<void>(receive_one());
  EXPECT_TRUE(another->receive(1).empty());
  pass(transport().redeliver_timeout() - drift());
  EXPECT_TRUE(another->receive(1).empty()) << "not yet: PHP compares with less than";
  pass(drift() + std::chrono::seconds{1});
  EXPECT_EQ(receive_one(*another).message.body, "1");
}

TEST_P(TransportContract, ASettledMessageIsGone) {
  send({"1"});
  EXPECT_EQ(settle(receive_one().hold), Status::settled);
  pass(2 * transport().redeliver_timeout());
  EXPECT_TRUE(transport().receive(1).empty());
  EXPECT_TRUE(transport().list(10, 0).empty());
}

TEST_P(TransportContract, SettlingTwiceIsLost) {
  send({"1"});
  const Hold hold = receive_one().hold;
  EXPECT_EQ(settle(hold), Status::settled);
  EXPECT_EQ(settle(hold), Status::lost);
  EXPECT_EQ(settle({"no number", "x"}), Status::lost);
  EXPECT_EQ(settle({"123456789", "0"}), Status::lost);
}

TEST_P(TransportContract, AHoldIsLostOnceSomebodyElseHasTheMessage) {
  const std::unique_ptr<Transport> another = open();
  send({"1"});
  const Hold late = receive_one().hold;
  pass(transport().redeliver_timeout() + std::chrono::seconds{1});
  const Hold successor = receive_one(*another).hold;
  EXPECT_EQ(settle(late), Status::lost);
  EXPECT_EQ(keep_alive(late), std::nullopt);
  transport().release({&late, 1});
  EXPECT_EQ(settle(*another, successor), Status::settled);
}

TEST_P(TransportContract, ALateSettlementThatNobodyOvertookCounts) {
  send({"1"});
  const Hold late = receive_one().hold;
  pass(2 * transport().redeliver_timeout());
  EXPECT_EQ(settle(late), Status::settled);
}

TEST_P(TransportContract, KeepAliveHoldsAMessageForAsLongAsItIsRepeated) {
  const std::unique_ptr<Transport> another = open();
  send({"1"});
  std::optional<Hold> hold = receive_one().hold;
  for (int i = 0; i < 5; ++i) {
    pass(transport().redeliver_timeout() / 2);
    hold = keep_alive(*hold);
    ASSERT_TRUE(hold) << "round " << i;
    EXPECT_TRUE(another->receive(1).empty());
  }
  EXPECT_EQ(settle(*hold), Status::settled);
}

TEST_P(TransportContract, ASettlementThatDidNotHearOfTheLastKeepAliveCounts) {
  send({"1"});
  const Hold before = receive_one().hold;
  pass(transport().redeliver_timeout() / 3);
  ASSERT_TRUE(keep_alive(before));
  EXPECT_EQ(settle(before), Status::settled);
}

TEST_P(TransportContract, AReleasedMessageIsTheNextOnes) {
  send({"1", "2"});
  const Hold hold = receive_one().hold;
  transport().release({&hold, 1});
  const std::unique_ptr<Transport> another = open();
  Texts bodies = bodies_of(another->receive(10));
  std::ranges::sort(bodies);  // it may have lost its place
  EXPECT_EQ(bodies, (Texts{"1", "2"}));
}

TEST_P(TransportContract, ABatchHasAStatusForEach) {
  send({"1", "2", "3"});
  const std::vector<Delivery> deliveries = transport().receive(3);
  ASSERT_EQ(deliveries.size(), 3U);
  ASSERT_EQ(settle(deliveries[1].hold), Status::settled);
  const std::vector<MessageSettlement> batch{{.hold = deliveries[0].hold},
                                             {.hold = deliveries[1].hold},
                                             {.hold = deliveries[2].hold},
                                             {.hold = deliveries[2].hold}};
  EXPECT_EQ(transport().settle(batch),
            (std::vector<Status>{Status::settled, Status::lost, Status::settled, Status::lost}));
}

}  // namespace errand::testing
