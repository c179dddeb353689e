#include "worker/message_queue.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/memory_transport.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/forwarding_queue.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;

/// One message in a worker's hands, and a failure transport that cannot be reached.
class MessageQueueTest : public ::testing::Test {
 protected:
  MessageQueueTest() {
    const Outgoing message{.message = {.body = "{}", .headers = {{"type", "x"}}}};
    async.send({&message, 1});
    unreachable_handlers.add_raw("x", [](const Envelope&, TaskContext&) -> std::string {
      throw StorageException{"it cannot be reached", StorageException::Retry::helps};
    });
  }

  [[nodiscard]] Lease claim() { return queue.claim({.limit = 1}).claims.at(0).lease; }

  /// True: the worker is told to stop the handler, as somebody else has the message.
  [[nodiscard]] bool is_lost(const Lease& lease) {
    clock.advance(async.redeliver_timeout() / 2);
    return queue.extend({&lease, 1}, milliseconds{1000}).at(0).lost;
  }

  testing::FakeClock clock;
  MemoryTransport async{"async", clock};
  Handlers unreachable_handlers;
  SyncTransport unreachable{unreachable_handlers};
  MessageQueue queue{
      {{.transport = &async, .failure = &unreachable}}, {}, {}, clock, silent_logger()};
};

TEST_F(MessageQueueTest, AMessageThatIsGoneWhileItsHandlerRunsIsLost) {
  const Lease lease = claim();
  EXPECT_FALSE(is_lost(lease));
  static_cast<void>(async.purge());
  EXPECT_TRUE(is_lost(lease));
}

TEST_F(MessageQueueTest, AKeepAliveThatComesAfterASettlementDoesNotCallItLost) {
  const Lease lease = claim();
  const Settlement failed{lease, Failed{}};
  EXPECT_THROW(static_cast<void>(queue.settle({&failed, 1})), StorageException);
  EXPECT_FALSE(is_lost(lease)) << "it is kept alive until its end can be stored";
  EXPECT_EQ(async.stats().in_flight, 1);
  // As after a settlement that counted, and whose answer was lost.
  static_cast<void>(async.purge());
  EXPECT_FALSE(is_lost(lease)) << "that is for the settlement to find out";
  const Settlement again{lease, Completed{"null"}};
  EXPECT_EQ(queue.settle({&again, 1}).at(0), SettleStatus::lease_lost);
}

/// Its answers are lost.
class SilentTasks final : public testing::ForwardingQueue {
 public:
  SilentTasks() : ForwardingQueue{nullptr} {}

 private:
  void before(testing::Call) override {
    throw StorageException{"no answer", StorageException::Retry::in_doubt};
  }
};

TEST_F(MessageQueueTest, AClaimOfTasksInDoubtIsToldThoughAMessageCame) {
  SilentTasks tasks;
  MessageQueue both{{{.transport = &async, .failure = &unreachable}},
                    {},
                    {.queue = &tasks},
                    clock,
                    silent_logger()};
  const ClaimBatch batch = both.claim({.limit = 2});
  EXPECT_EQ(batch.claims.size(), 1U);
  EXPECT_TRUE(batch.in_doubt) << "who claims never looks what it was given";
}

TEST_F(MessageQueueTest, WhatIsHandedBackIsNotKeptAlive) {
  const Lease lease = claim();
  const Settlement released{lease, Released{}};
  EXPECT_EQ(queue.settle({&released, 1}).at(0), SettleStatus::settled);
  EXPECT_FALSE(is_lost(lease));
  EXPECT_EQ(async.stats().ready, 1);
}

}  // namespace
}  // namespace errand::detail
