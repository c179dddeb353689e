#include "errand/memory_transport.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/testing/fake_clock.hpp"

namespace errand {
namespace {

using std::chrono::seconds;

class MemoryTransportTest : public ::testing::Test {
 protected:
  void send(const std::string& body, std::chrono::milliseconds delay = {}) {
    const Outgoing message{.message = {.body = body, .headers = {{"type", "T"}}}, .delay = delay};
    transport.send({&message, 1});
  }
  Delivery receive() { return transport.receive(1).at(0); }
  MessageSettleStatus settle(const MessageSettlement& settlement) {
    return transport.settle({&settlement, 1}).at(0);
  }

  testing::FakeClock clock;
  MemoryTransport transport{"memory", clock};
};

TEST_F(MemoryTransportTest, DeliversInOrderAndWhenDue) {
  send("later", seconds{5});
  send("1");
  send("2");
  EXPECT_EQ(receive().message.body, "1");
  EXPECT_EQ(receive().message.body, "2");
  EXPECT_TRUE(transport.receive(1).empty());
  EXPECT_EQ(transport.next_due(), seconds{5});
  clock.advance(seconds{5});
  EXPECT_EQ(receive().message.body, "later");
  EXPECT_EQ(transport.stats().in_flight, 3);
}

TEST_F(MemoryTransportTest, AHoldIsLostOnceSomebodyElseHasTheMessage) {
  send("1");
  const Hold late = receive().hold;
  clock.advance(transport.redeliver_timeout() + seconds{1});
  const Hold successor = receive().hold;
  EXPECT_EQ(settle({.hold = late}), MessageSettleStatus::lost);
  EXPECT_EQ(settle({.hold = successor}), MessageSettleStatus::settled);
  EXPECT_EQ(settle({.hold = successor}), MessageSettleStatus::lost);
}

TEST_F(MemoryTransportTest, ForwardsAndRemembersWhatWasSent) {
  MemoryTransport failed{"failed", clock};
  send("1");
  const Outgoing letter{.message = {.body = "broken", .headers = {{"type", "F"}}}};
  EXPECT_EQ(
      settle({.hold = receive().hold, .forward = MessageSettlement::Forward{&failed, letter}}),
      MessageSettleStatus::settled);
  EXPECT_TRUE(transport.list(10, 0).empty());
  EXPECT_EQ(failed.list(10, 0).at(0).message.body, "broken");
  EXPECT_EQ(transport.sent("T").size(), 1U);
  EXPECT_EQ(failed.sent().size(), 1U);
  EXPECT_TRUE(failed.sent("T").empty());
}

TEST_F(MemoryTransportTest, WhatCannotBeForwardedStays) {
  Handlers handlers;
  handlers.add_raw("F", [](const Envelope&, TaskContext&) -> std::string {
    throw StorageException{"away", StorageException::Retry::helps};
  });
  SyncTransport unreachable{handlers};
  send("1");
  const Delivery delivery = receive();
  const Outgoing letter{.message = {.body = "{}", .headers = {{"type", "F"}}}};
  EXPECT_THROW(
      static_cast<void>(settle(
          {.hold = delivery.hold, .forward = MessageSettlement::Forward{&unreachable, letter}})),
      StorageException);
  EXPECT_EQ(settle({.hold = delivery.hold}), MessageSettleStatus::settled) << "it was still ours";
}

TEST_F(MemoryTransportTest, ReleasedAndRemovedAndPurged) {
  send("1");
  const Hold hold = receive().hold;
  transport.release({&hold, 1});
  const Hold second = receive().hold;
  EXPECT_EQ(transport.remove({&hold.id, 1}), 0U) << "somebody holds it";
  transport.release({&second, 1});
  EXPECT_EQ(transport.remove({&hold.id, 1}), 1U);
  send("2");
  EXPECT_EQ(transport.purge(), 1U);
  EXPECT_FALSE(transport.find(hold.id));
}

}  // namespace
}  // namespace errand
