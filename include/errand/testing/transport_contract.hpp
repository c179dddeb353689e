#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/at_once.hpp"
#include "errand/testing/fake_clock.hpp"
#include "errand/testing/signal_probe.hpp"
#include "errand/transport.hpp"

/// The contract of a transport, as tests. A transport is done when it passes all of them.
namespace errand::testing {

/// One empty storage of messages, and the clock that all who use it go by.
class TransportUnderTest {
 public:
  virtual ~TransportUnderTest() = default;

  /// Opens it. Called several times in one test: the transports then stand for several processes,
  /// or for several queues. `options`: more of the DSN, as `queue_name=failed&remove_after=60`.
  [[nodiscard]] virtual std::unique_ptr<Transport> open(
      const std::string& options = "",
      TransportOptions::Open how = TransportOptions::Open::create) = 0;

  /// What the queue is called that `queue_name=NAME` or, without one, the default opens.
  [[nodiscard]] virtual std::string called(const std::string& queue = "default") const {
    return queue;
  }

  /// All times that are compared with this clock, or with one of the server's, are then so much
  /// older.
  virtual void pass_time(std::chrono::milliseconds time) { clock_.advance(time); }

  /// How much a time may be off where the server's clock is in it, too.
  [[nodiscard]] virtual std::chrono::milliseconds drift() const {
    return std::chrono::milliseconds{0};
  }

  [[nodiscard]] FakeClock& clock() noexcept { return clock_; }

 protected:
  FakeClock clock_;
};

struct TransportFactory {
  std::string name;  ///< letters, digits and underscores
  std::function<std::unique_ptr<TransportUnderTest>()> make;

  friend std::ostream& operator<<(std::ostream& out, const TransportFactory& factory) {
    return out << factory.name;
  }
};

/// For the last argument of INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string transport_factory_name(
    const ::testing::TestParamInfo<TransportFactory>& parameter) {
  return parameter.param.name;
}

[[nodiscard]] inline Outgoing outgoing(std::string body, std::chrono::milliseconds delay = {}) {
  return {.message = {.body = std::move(body), .headers = {{"type", "App\\Message\\Contract"}}},
          .delay = delay};
}

[[nodiscard]] inline std::vector<std::string> bodies_of(const std::vector<Delivery>& deliveries) {
  std::vector<std::string> bodies;
  for (const Delivery& delivery : deliveries) bodies.push_back(delivery.message.body);
  return bodies;
}

class TransportContract : public ::testing::TestWithParam<TransportFactory> {
 protected:
  using Status = MessageSettleStatus;
  using Texts = std::vector<std::string>;

  TransportContract() : under_test_{GetParam().make()}, transport_{under_test_->open()} {}

  [[nodiscard]] Transport& transport() noexcept { return *transport_; }
  [[nodiscard]] std::unique_ptr<Transport> open(const std::string& options = "") {
    return under_test_->open(options);
  }
  [[nodiscard]] TransportUnderTest& under_test() noexcept { return *under_test_; }
  void pass(std::chrono::milliseconds time) { under_test_->pass_time(time); }
  [[nodiscard]] std::chrono::milliseconds drift() const { return under_test_->drift(); }
  [[nodiscard]] Timestamp now() { return under_test_->clock().now(); }

  static void send(Transport& to, const std::vector<std::string>& bodies,
                   std::chrono::milliseconds delay = {}) {
    std::vector<Outgoing> messages;
    for (const std::string& body : bodies) messages.push_back(outgoing(body, delay));
    to.send(messages);
  }
  void send(const std::vector<std::string>& bodies, std::chrono::milliseconds delay = {}) {
    send(transport(), bodies, delay);
  }

  static Delivery receive_one(Transport& from) {
    std::vector<Delivery> deliveries = from.receive(1);
    if (deliveries.size() != 1) throw std::runtime_error{"no message to receive"};
    return std::move(deliveries.front());
  }
  Delivery receive_one() { return receive_one(transport()); }

  static Status settle(Transport& in, const Hold& hold,
                       std::optional<MessageSettlement::Forward> forward = {}) {
    const MessageSettlement settlement{hold, std::move(forward)};
    const std::vector<Status> statuses = in.settle({&settlement, 1});
    if (statuses.size() != 1) throw std::runtime_error{"settle gave not one status for one hold"};
    return statuses.front();
  }
  Status settle(const Hold& hold, std::optional<MessageSettlement::Forward> forward = {}) {
    return settle(transport(), hold, std::move(forward));
  }

  std::optional<Hold> keep_alive(const Hold& hold) {
    const std::vector<std::optional<Hold>> holds = transport().keep_alive({&hold, 1});
    if (holds.size() != 1) throw std::runtime_error{"keep_alive gave not one hold for one"};
    return holds.front();
  }

 private:
  std::unique_ptr<TransportUnderTest> under_test_;
  std::unique_ptr<Transport> transport_;
};

// --- sending and receiving
// ------------------------------------------------------------------------

TEST_P(TransportContract, ReceivesWhatWasSentBytesAndHeaders) {
  const WireMessage sent{
      .body = R"({"text":"h\u00e9 \"q\" 发票 🧾","n":1.0})"
              "\n",
      .headers = {{"type", R"(App\Message\SmsNotification)"},
                  {R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\BusNameStamp)",
                   R"([{"busName":"messenger.bus.default"}])"},
                  {"Content-Type", "application/json"},
                  {"X-Unknown", "carried"}}};
  const Outgoing message{.message = sent};
  transport().send({&message, 1});
  EXPECT_EQ(receive_one().message, sent);
}

TEST_P(TransportContract, CarriesABodyWithoutHeaders) {
  const Outgoing message{
      .message = {.body = R"(O:36:\"Symfony\\Component\\Messenger\\Envelope\")"}};
  transport().send({&message, 1});
  EXPECT_EQ(receive_one().message, message.message);
}

TEST_P(TransportContract, CarriesAMegabyte) {
  const std::string body(std::size_t{1} << 20, 'x');
  send({body});
  EXPECT_EQ(receive_one().message.body, body);
}

TEST_P(TransportContract, RefusesABodyThatIsNotUtf8AndSendsNoneOfTheBatch) {
  const std::vector<Outgoing> messages{outgoing("good"), outgoing("\xff")};
  EXPECT_THROW(transport().send(messages), ValidationException);
  const std::vector<Outgoing> with_nul{outgoing(std::string{"a\0b", 3})};
  EXPECT_THROW(transport().send(with_nul), ValidationException);
  EXPECT_TRUE(transport().receive(10).empty());
}

TEST_P(TransportContract, AnEmptyBatchTouchesNothing) {
  transport().send({});
  EXPECT_TRUE(transport().settle({}).empty());
  EXPECT_TRUE(transport().keep_alive({}).empty());
  transport().release({});
  EXPECT_EQ(transport().remove({}), 0U);
  EXPECT_TRUE(transport().receive(0).empty());
}

TEST_P(TransportContract, TheOldestComesFirstAndInTheOrderOfSending) {
  send({"1", "2"});
  pass(std::chrono::seconds{1});
  send({"3"});
  EXPECT_EQ(bodies_of(transport().receive(2)), (Texts{"1", "2"}));
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"3"});
  EXPECT_TRUE(transport().receive(10).empty());
}

TEST_P(TransportContract, ADelayedMessageWaits) {
  send({"later"}, std::chrono::milliseconds{2500});
  EXPECT_TRUE(transport().receive(1).empty());
  ASSERT_TRUE(transport().next_due());
  EXPECT_LT(*transport().next_due(), std::chrono::milliseconds{2500} + transport().granularity());
  EXPECT_GE(*transport().next_due(), std::chrono::milliseconds{2500}) << "never early";
  pass(*transport().next_due());
  EXPECT_EQ(receive_one().message.body, "later");
  EXPECT_FALSE(transport().next_due());
}

TEST_P(TransportContract, AWaitBelowASecondIsWaitedForAtAnyTimeOfASecond) {
  for (const int into_the_second : {0, 1, 500, 999}) {
    pass(std::chrono::milliseconds{1000 + into_the_second});
    send({"soon"}, std::chrono::milliseconds{300});
    pass(std::chrono::milliseconds{299});
    EXPECT_TRUE(transport().receive(1).empty()) << "it came early";
    pass(transport().granularity() + std::chrono::milliseconds{1});
    EXPECT_EQ(settle(receive_one().hold), Status::settled);
    pass(std::chrono::milliseconds{1000 - into_the_second});
  }
}

TEST_P(TransportContract, ADelayedMessageDoesNotStandInTheWay) {
  send({"later"}, std::chrono::hours{1});
  send({"now"});
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"now"});
}

TEST_P(TransportContract, QueuesOfOneTableAreApart) {
  const std::unique_ptr<Transport> other = open("queue_name=other");
  send({"here"});
  send(*other, {"there"});
  EXPECT_EQ(bodies_of(transport().receive(10)), Texts{"here"});
  EXPECT_EQ(bodies_of(other->receive(10)), Texts{"there"});
  EXPECT_EQ(other->purge(), 1U);
  EXPECT_EQ(transport().stats().in_flight, 1);
}

TEST_P(TransportContract, IsCalledAsItsQueue) {
  EXPECT_EQ(open("queue_name=async")->name(), under_test().called("async"));
}

// --- holds ---------------------------------------------------------------------------------------

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

// --- forwards ------------------------------------------------------------------------------------

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

// --- consumed messages
// -----------------------------------------------------------------------------

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

// --- for operators
// ---------------------------------------------------------------------------------

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

// --- setting up, signals, crowds
// -------------------------------------------------------------------

TEST_P(TransportContract, SetupCanBeRepeatedAndByManyAtOnce) {
  send({"1"});
  at_once(4, [&](std::size_t) { open("table_name=fresh")->setup(); });
  transport().setup();
  EXPECT_EQ(receive_one().message.body, "1");
}

TEST_P(TransportContract, WhoeverOnlyLooksCreatesNothing) {
  EXPECT_THROW(
      static_cast<void>(under_test().open("table_name=absent", TransportOptions::Open::existing)),
      StorageException);
  EXPECT_THROW(static_cast<void>(open("table_name=absent&auto_setup=no")), StorageException);
}

TEST_P(TransportContract, WhoeverAsksForSetupGetsItWithoutAutoSetupToo) {
  const std::string options = "table_name=fresh&auto_setup=no";
  static_cast<void>(under_test().open(options, TransportOptions::Open::setup));
  const std::unique_ptr<Transport> made = open(options);
  const Outgoing message{.message = {.body = "1"}};
  made->send({&message, 1});
  EXPECT_EQ(made->stats().ready, 1);
}

TEST_P(TransportContract, WrongOptionsAreRefusedByName) {
  const auto refusal = [&](const std::string& options) -> std::string {
    try {
      static_cast<void>(open(options));
    } catch (const ConfigurationException& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("redeliver_timeout=0").find("redeliver_timeout"), std::string::npos);
  EXPECT_NE(refusal("redeliver_timeout=soon").find("redeliver_timeout"), std::string::npos);
  EXPECT_NE(refusal("queue_name="), "");
  EXPECT_NE(refusal("que_name=x").find("que_name"), std::string::npos);
}

TEST_P(TransportContract, TellsThoseWhoWaitThatAMessageCame) {
  const std::unique_ptr<Transport> another = open();
  SignalProbe probe{another->signals(), Signal::work};
  // A connection that listens may be on its way still: what comes after it is told.
  send({"1"});
  EXPECT_TRUE(probe.hears_of_queue(under_test().called()));
}

TEST_P(TransportContract, WhatComesToAnotherQueueWakesNobodyHere) {
  const std::unique_ptr<Transport> other = open("queue_name=other");
  std::mutex mutex;
  Texts heard;
  const Subscription subscription =
      transport().signals().subscribe(Signal::work, [&](const SignalEvent& event) {
        const std::lock_guard lock{mutex};
        heard.insert(heard.end(), event.queues.begin(), event.queues.end());
      });
  SignalProbe probe{transport().signals(), Signal::work};
  send(*other, {"there"});
  send({"here"});  // it comes after: whoever has heard of it would have heard of the other
  EXPECT_TRUE(probe.hears_of_queue(under_test().called()));
  const std::lock_guard lock{mutex};
  EXPECT_EQ(std::ranges::count(heard, under_test().called("other")), 0);
}

TEST_P(TransportContract, ManyConsumersReceiveEachMessageOnce) {
  constexpr std::size_t kMessages = 600;
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < kMessages; ++i) bodies.push_back(std::to_string(i));
  send(bodies);
  std::mutex mutex;
  std::multiset<std::string> seen;
  at_once(6, [&](std::size_t) {
    const std::unique_ptr<Transport> consumer = open();
    while (true) {
      const std::vector<Delivery> batch = consumer->receive(7);
      if (batch.empty()) return;
      std::vector<MessageSettlement> ends;
      for (const Delivery& delivery : batch) ends.push_back({.hold = delivery.hold});
      const std::vector<Status> statuses = consumer->settle(ends);
      const std::lock_guard lock{mutex};
      for (std::size_t i = 0; i < batch.size(); ++i) {
        EXPECT_EQ(statuses[i], Status::settled);
        seen.insert(batch[i].message.body);
      }
    }
  });
  // Rows that others had locked may have been skipped by the last ones to look.
  for (const Delivery& delivery : transport().receive(kMessages)) {
    seen.insert(delivery.message.body);
  }
  EXPECT_EQ(seen, (std::multiset<std::string>{bodies.begin(), bodies.end()}));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportContract);

}  // namespace errand::testing
