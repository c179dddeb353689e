#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/testing/transport_fixture.hpp"

/// What operators ask of a transport, and do to the messages in it.
namespace errand::testing {

TEST_P(TransportContract, StatsCountReadyDelayedAndInFlight) {
  EXPECT_EQ(transport().stats().ready, 0);
  EXPECT_FALSE(transport().stats().oldest_ready);
  send({"1"});
  static_cast<void>(receive_one());
  send({"2"});
  send({"3"}, std::chrono::hours{1});
  pass(std::chrono::seconds{7});
  const TransportStats stats = transport().stats();
  EXPECT_EQ(stats.ready, 1);
  EXPECT_EQ(stats.delayed, 1);
  EXPECT_EQ(stats.in_flight, 1);
  EXPECT_EQ(stats.oldest_ready, std::chrono::seconds{7});
  pass(transport().redeliver_timeout());
  EXPECT_EQ(transport().stats().in_flight, 0) << "nobody has it any more";
}

TEST_P(TransportContract, ListsInTheOrderOfSendingWithTimes) {
  send({"1"});
  send({"2"}, std::chrono::seconds{60});
  static_cast<void>(receive_one());
  const std::vector<StoredMessage> all = transport().list(10, 0);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].message.body, "1");
  EXPECT_EQ(all[0].created_at, now());
  ASSERT_TRUE(all[0].delivered_at);
  EXPECT_LE(*all[0].delivered_at, now());
  EXPECT_GE(*all[0].delivered_at, now() - drift());
  EXPECT_EQ(all[1].available_at, now() + std::chrono::seconds{60});
  EXPECT_FALSE(all[1].delivered_at);
  ASSERT_EQ(transport().list(10, 1).size(), 1U);
  EXPECT_EQ(transport().list(10, 1)[0].message.body, "2");
  EXPECT_EQ(transport().list(1, 0).size(), 1U);
}

TEST_P(TransportContract, FindsByIdWhateverTheState) {
  send({"1"});
  const Hold hold = receive_one().hold;
  ASSERT_TRUE(transport().find(hold.id));
  EXPECT_EQ(transport().find(hold.id)->message.body, "1");
  EXPECT_FALSE(transport().find("999999"));
  EXPECT_FALSE(transport().find("nonsense"));
}

TEST_P(TransportContract, RemovesByIdAndCounts) {
  send({"1", "2", "3"});
  const std::vector<StoredMessage> all = transport().list(10, 0);
  const std::vector<std::string> ids{all[0].id, all[2].id, "999999", "nonsense"};
  EXPECT_EQ(transport().remove(ids), 2U);
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"2"});
  EXPECT_EQ(transport().purge(), 1U);
  EXPECT_EQ(transport().purge(), 0U);
}

TEST_P(TransportContract, WhatAConsumerHoldsIsNotRemovedUntilItWasSilentForTooLong) {
  send({"1", "2"});
  const Hold hold = receive_one().hold;
  EXPECT_EQ(transport().remove({&hold.id, 1}), 0U);
  EXPECT_EQ(transport().list(10, 0).size(), 2U);
  pass(transport().redeliver_timeout() + std::chrono::seconds{1});
  EXPECT_EQ(transport().remove({&hold.id, 1}), 1U);
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"2"});
}

TEST_P(TransportContract, DelayedMessagesAreFoundAndRemovedAmongMany) {
  std::vector<std::string> bodies;
  for (int i = 0; i < 3000; ++i) bodies.push_back(std::to_string(i));
  send(bodies, std::chrono::hours{1});
  const std::vector<StoredMessage> all = transport().list(3000, 0);
  ASSERT_EQ(all.size(), 3000U);
  const std::vector<std::string> ids{all[0].id, all[1499].id, all[2999].id, "none of them"};
  ASSERT_TRUE(transport().find(ids[1]));
  EXPECT_EQ(transport().find(ids[1])->message.body, all[1499].message.body);
  EXPECT_EQ(transport().remove(ids), 3U);
  EXPECT_FALSE(transport().find(ids[1]));
  EXPECT_EQ(transport().stats().delayed, 2997);
}

TEST_P(TransportContract, AMessageIsMovedToAnotherQueueUnlessSomebodyHoldsIt) {
  const std::unique_ptr<Transport> failed = open("queue_name=failed");
  send(*failed, {"1"});
  send(*failed, {"later"}, std::chrono::hours{1});
  const Hold hold = receive_one(*failed).hold;
  EXPECT_EQ(failed->move(hold.id, {&transport(), outgoing("again")}), MoveStatus::left_alone);
  EXPECT_EQ(failed->move("nonsense", {&transport(), outgoing("again")}), MoveStatus::left_alone);
  EXPECT_TRUE(transport().list(10, 0).empty());
  pass(transport().redeliver_timeout() + std::chrono::seconds{1});
  EXPECT_EQ(failed->move(hold.id, {&transport(), outgoing("again")}), MoveStatus::moved);
  EXPECT_EQ(failed->move(hold.id, {&transport(), outgoing("twice")}), MoveStatus::left_alone);
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"again"});
  const std::vector<StoredMessage> left = failed->list(10, 0);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(failed->move(left[0].id, {&transport(), outgoing("now")}), MoveStatus::moved);
  EXPECT_TRUE(failed->list(10, 0).empty());
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"now"});
}

TEST_P(TransportContract, AMessageIsMovedToAnotherStorage) {
  const std::unique_ptr<TransportUnderTest> elsewhere = GetParam().make();
  const std::unique_ptr<Transport> there = elsewhere->open();
  send({"1"});
  const std::string id = transport().list(1, 0).at(0).id;
  EXPECT_EQ(transport().move(id, {there.get(), outgoing("again")}), MoveStatus::moved);
  EXPECT_TRUE(transport().list(10, 0).empty());
  EXPECT_EQ(receive_one(*there).message.body, "again");
}

}  // namespace errand::testing
