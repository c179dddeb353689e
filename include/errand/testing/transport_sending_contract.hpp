#pragma once

#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/transport_fixture.hpp"

/// Sending, waiting and receiving.
namespace errand::testing {

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

}  // namespace errand::testing
