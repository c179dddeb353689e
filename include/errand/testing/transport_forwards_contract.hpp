#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "errand/testing/transport_fixture.hpp"

/// Where settled messages go: on to another place, or to be kept for a while.
namespace errand::testing {

TEST_P(TransportContract, AForwardToTheSameQueueReplacesTheMessage) {
  send({"1"});
  const Delivery delivery = receive_one();
  EXPECT_EQ(settle(delivery.hold, {{&transport(), outgoing("again", std::chrono::seconds{5})}}),
            Status::settled);
  EXPECT_TRUE(transport().receive(1).empty());
  pass(std::chrono::seconds{5});
  const Delivery again = receive_one();
  EXPECT_EQ(again.message.body, "again");
  EXPECT_NE(again.hold.id, delivery.hold.id);
}

TEST_P(TransportContract, AForwardToAnotherQueueMovesTheMessage) {
  const std::unique_ptr<Transport> failed = open("queue_name=failed");
  send({"1"});
  EXPECT_EQ(settle(receive_one().hold, {{failed.get(), outgoing("broken")}}), Status::settled);
  EXPECT_TRUE(transport().list(10, 0).empty());
  EXPECT_EQ(receive_one(*failed).message.body, "broken");
}

TEST_P(TransportContract, AForwardToAnotherTableMovesTheMessage) {
  const std::unique_ptr<Transport> failed = open("table_name=failed_messages");
  send({"1"});
  EXPECT_EQ(settle(receive_one().hold, {{failed.get(), outgoing("broken")}}), Status::settled);
  EXPECT_TRUE(transport().list(10, 0).empty());
  EXPECT_EQ(receive_one(*failed).message.body, "broken");
}

TEST_P(TransportContract, AForwardToAnotherStorageMovesTheMessage) {
  const std::unique_ptr<TransportUnderTest> elsewhere = GetParam().make();
  const std::unique_ptr<Transport> failed = elsewhere->open();
  send({"1", "2"});
  const Delivery delivery = receive_one();
  EXPECT_EQ(settle(delivery.hold, {{failed.get(), outgoing("broken")}}), Status::settled);
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"2"});
  EXPECT_EQ(receive_one(*failed).message.body, "broken");
  EXPECT_EQ(settle(delivery.hold, {{failed.get(), outgoing("twice")}}), Status::lost);
  EXPECT_TRUE(failed->receive(1).empty());
}

TEST_P(TransportContract, ALostHoldForwardsNothing) {
  const std::unique_ptr<Transport> failed = open("queue_name=failed");
  send({"1"});
  const Hold late = receive_one().hold;
  pass(transport().redeliver_timeout() + std::chrono::seconds{1});
  const Delivery successor = receive_one();
  EXPECT_EQ(settle(late, {{&transport(), outgoing("again")}}), Status::lost);
  EXPECT_EQ(settle(late, {{failed.get(), outgoing("broken")}}), Status::lost);
  EXPECT_TRUE(failed->list(10, 0).empty());
  EXPECT_EQ(transport().list(10, 0).size(), 1U);
}

TEST_P(TransportContract, ABatchMaySettleAndForwardToSeveralPlaces) {
  const std::unique_ptr<Transport> failed = open("queue_name=failed");
  send({"1", "2", "3"});
  const std::vector<Delivery> deliveries = transport().receive(3);
  ASSERT_EQ(deliveries.size(), 3U);
  const std::vector<MessageSettlement> batch{
      {.hold = deliveries[0].hold, .forward = {}},
      {.hold = deliveries[1].hold,
       .forward = MessageSettlement::Forward{&transport(), outgoing("2 again")}},
      {.hold = deliveries[2].hold,
       .forward = MessageSettlement::Forward{failed.get(), outgoing("3 failed")}}};
  EXPECT_EQ(transport().settle(batch), std::vector<Status>(3, Status::settled));
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"2 again"});
  EXPECT_EQ(bodies_of(failed->receive(10)), Texts{"3 failed"});
}

TEST_P(TransportContract, ConsumedMessagesAreKeptForRemoveAfterWhereNobodyReceivesThem) {
  const std::unique_ptr<Transport> keeping = open("queue_name=kept&remove_after=3600");
  const std::unique_ptr<Transport> kept = open("queue_name=kept:consumed");
  send(*keeping, {"1"});
  EXPECT_EQ(settle(*keeping, receive_one(*keeping).hold), Status::settled);
  EXPECT_TRUE(keeping->list(10, 0).empty());
  EXPECT_TRUE(keeping->receive(1).empty());
  const std::vector<StoredMessage> found = kept->list(10, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message.body, "1");

  pass(std::chrono::seconds{3601});
  send(*keeping, {"2"});
  EXPECT_EQ(settle(*keeping, receive_one(*keeping).hold), Status::settled);
  ASSERT_EQ(kept->list(10, 0).size(), 1U);
  EXPECT_EQ(kept->list(10, 0)[0].message.body, "2");
}

TEST_P(TransportContract, WhatIsForwardedIsNotKept) {
  const std::unique_ptr<Transport> keeping = open("queue_name=kept&remove_after=3600");
  const std::unique_ptr<Transport> kept = open("queue_name=kept:consumed");
  send(*keeping, {"1"});
  EXPECT_EQ(settle(*keeping, receive_one(*keeping).hold, {{keeping.get(), outgoing("again")}}),
            Status::settled);
  EXPECT_TRUE(kept->list(10, 0).empty());
}

}  // namespace errand::testing
