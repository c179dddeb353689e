#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/testing/transport_contract.hpp"

#include "contract/redis_transport_under_test.hpp"
#include "support/eventually.hpp"

namespace errand::testing {
namespace {

TransportFactory over(const std::string& name, std::string (*server)()) {
  return {name, [server] { return std::make_unique<RedisTransportUnderTest>(server()); }};
}

std::string socket_server() { return "redis+unix://" + RedisServer::socket(); }
std::string tcp_server() { return "redis://127.0.0.1:" + RedisServer::number_in("port"); }
std::string tls_server() {
  return "rediss://localhost:" + RedisServer::number_in("tls-port") +
         "?ca=" + RedisServer::directory() + "/ca.crt";
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, TransportContract,
                         ::testing::Values(over("socket", socket_server), over("tcp", tcp_server),
                                           over("tls", tls_server)),
                         transport_factory_name);

namespace {

using Texts = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::seconds;

class RedisTransport : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Transport> open(const std::string& options = "") {
    return under_test.open(options, TransportOptions::Open::create);
  }

  static void send(Transport& to, const std::string& body, milliseconds delay = {}) {
    const Outgoing message = outgoing(body, delay);
    to.send({&message, 1});
  }

  static MessageSettleStatus settle(Transport& in, const Hold& hold) {
    const MessageSettlement settlement{.hold = hold};
    return in.settle({&settlement, 1}).at(0);
  }

  /// As another program adds an entry.
  void add(const Texts& fields) {
    Texts words{"XADD", stream(), "*"};
    words.insert(words.end(), fields.begin(), fields.end());
    client().run(words);
  }

  [[nodiscard]] Texts consumers() {
    const RedisClient::Reply reply = client().run({"XINFO", "CONSUMERS", stream(), "symfony"});
    Texts names;
    for (std::size_t i = 0; i < reply->elements; ++i) {
      names.emplace_back(reply->element[i]->element[1]->str);
    }
    return names;
  }

  /// The field `message` of the first entry.
  [[nodiscard]] std::string first_value() {
    const RedisClient::Reply reply = client().run({"XRANGE", stream(), "-", "+", "COUNT", "1"});
    if (reply->elements == 0) return "";
    const redisReply& fields = *reply->element[0]->element[1];
    EXPECT_EQ(fields.elements, 2U);
    EXPECT_STREQ(fields.element[0]->str, "message");
    return fields.element[1]->str;
  }

  [[nodiscard]] std::string stream() const { return under_test.called(); }
  [[nodiscard]] std::string delayed() const { return stream() + "__queue"; }
  [[nodiscard]] RedisClient& client() { return client_; }

  RedisTransportUnderTest under_test{socket_server()};

 private:
  RedisClient client_;
};

constexpr const char* kBareJson =
    R"({"body":"{\"to\":\"+491\",\"text\":\"h\\u00e9\"}","headers":{"type":"App\\Message\\Sms",)"
    R"("Content-Type":"application\/json"}})";

const WireMessage kMeant{
    .body = R"({"to":"+491","text":"h\u00e9"})",
    .headers = {{"type", R"(App\Message\Sms)"}, {"Content-Type", "application/json"}}};

}  // namespace

// --- several groups
// -------------------------------------------------------------------------------

TEST_F(RedisTransport, WhatOneGroupHandsBackOrRemovesStaysForTheOthers) {
  const auto transport = open("delete_after_ack=no&delete_after_reject=no");
  client().run({"XGROUP", "CREATE", stream(), "others", "0"});
  send(*transport, "1");
  send(*transport, "2");
  const std::vector<Delivery> held = transport->receive(2);
  ASSERT_EQ(held.size(), 2U);
  transport->release({&held[0].hold, 1});
  EXPECT_EQ(client().number({"XLEN", stream()}), 2) << "one more would come to the others, too";
  const std::vector<Delivery> again = transport->receive(10);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].message.body, "1");
  under_test.pass_time(transport->redeliver_timeout() + seconds{1});
  EXPECT_EQ(transport->remove({&held[1].hold.id, 1}), 1U);
  EXPECT_EQ(transport->find(held[1].hold.id), std::nullopt);
  send(*transport, "3");
  const std::string waiting = transport->list(10, 0).back().id;
  EXPECT_EQ(transport->remove({&waiting, 1}), 0U) << "it cannot be taken out for one group alone";
  const RedisClient::Reply others =
      client().run({"XREADGROUP", "GROUP", "others", "c", "COUNT", "10", "STREAMS", stream(), ">"});
  EXPECT_EQ(others->element[0]->element[1]->elements, 3U);
}

// --- bytes
// ----------------------------------------------------------------------------------------

TEST_F(RedisTransport, AMessageIsBareJsonInOneField) {
  const auto transport = open();
  send(*transport, R"({"n":1})");
  EXPECT_EQ(first_value(), R"({"body":"{\"n\":1}","headers":{"type":"App\\Message\\Contract"}})");
  const Outgoing without_headers{.message = {.body = "x"}};
  static_cast<void>(transport->purge());
  transport->send({&without_headers, 1});
  EXPECT_EQ(first_value(), R"({"body":"x","headers":[]})");
}

TEST_F(RedisTransport, ADelayedMessageIsInTheSortedSetByTheMillisecondItIsDue) {
  const auto transport = open();
  send(*transport, "later", milliseconds{2500});
  const RedisClient::Reply found = client().run({"ZRANGE", delayed(), "0", "-1", "WITHSCORES"});
  ASSERT_EQ(found->elements, 2U);
  EXPECT_STREQ(found->element[1]->str, "4102444802500");
  EXPECT_EQ(std::string{found->element[0]->str}.find(
                R"({"body":"later","headers":{"type":"App\\Message\\Contract"},"uniqid":")"),
            0U);
  EXPECT_EQ(client().number({"XLEN", stream()}), 0);
}

TEST_F(RedisTransport, EqualDelayedMessagesAreTwo) {
  const auto transport = open();
  send(*transport, "same", seconds{1});
  send(*transport, "same", seconds{1});
  EXPECT_EQ(transport->stats().delayed, 2);
}

TEST_F(RedisTransport, ReadsWhatPhpWritesInAnyOfItsSerializations) {
  const auto transport = open();
  const std::string json = kBareJson;
  const std::string size{static_cast<char>(json.size())};
  add({"message", json});
  add({"message", "s:" + std::to_string(json.size()) + ":\"" + json + "\";"});
  add({"message", std::string{"\0\0\0\2\x11", 5} + size + json});
  add({"more", "than", "message", json});
  const std::vector<Delivery> deliveries = transport->receive(10);
  ASSERT_EQ(deliveries.size(), 4U);
  for (const Delivery& delivery : deliveries) EXPECT_EQ(delivery.message, kMeant);
}

TEST_F(RedisTransport, ADelayedMessageOfPhpsLosesItsUniqidOnTheWay) {
  const auto transport = open();
  const std::string json = kBareJson;
  const std::string head = json.substr(0, json.size() - 1);
  client().run({"ZADD", delayed(), "1794768428077", head + R"(,"uniqid":"Lt\/mwSrsoWLd"})"});
  ASSERT_TRUE(transport->find("Lt/mwSrsoWLd"));
  const std::vector<Delivery> deliveries = transport->receive(10);
  ASSERT_EQ(deliveries.size(), 1U);
  EXPECT_EQ(deliveries[0].message, kMeant);
  EXPECT_EQ(first_value(), json);
  EXPECT_EQ(client().number({"EXISTS", delayed()}), 0);
}

TEST_F(RedisTransport, WhatIsNoMessageIsDeliveredAsItIsAndNotDestroyed) {
  const auto transport = open();
  add({"message", "{broken"});
  add({"message", R"({"only":"json"})"});
  add({"message", R"({"body":"x","headers":{"type":1}})"});
  add({"message", "\xff\xfe"});
  add({"another", "field"});
  const std::vector<Delivery> deliveries = transport->receive(10);
  ASSERT_EQ(deliveries.size(), 5U);
  EXPECT_EQ(deliveries[0].message, (WireMessage{.body = "{broken", .headers = {}}));
  EXPECT_EQ(deliveries[1].message, (WireMessage{.body = R"({"only":"json"})", .headers = {}}));
  EXPECT_EQ(
      deliveries[2].message,
      (WireMessage{.body = "x", .headers = {{"X-Errand-Unreadable-Headers", R"({"type":1})"}}}));
  EXPECT_EQ(deliveries[3].message,
            (WireMessage{.body = "//4=", .headers = {{"X-Errand-Encoding", "base64"}}}));
  EXPECT_EQ(deliveries[4].message, (WireMessage{.body = R"({"another":"field"})", .headers = {}}));
}

// --- holds
// ----------------------------------------------------------------------------------------

TEST_F(RedisTransport, WhatPhpHasTakenOverIsLost) {
  const auto transport = open();
  send(*transport, "1");
  const Hold late = transport->receive(1).at(0).hold;
  client().run({"XCLAIM", stream(), "symfony", "php", "0", late.id, "JUSTID"});
  EXPECT_EQ(transport->keep_alive({&late, 1}).at(0), std::nullopt);
  transport->release({&late, 1});
  EXPECT_EQ(settle(*transport, late), MessageSettleStatus::lost);
  EXPECT_EQ(client().number({"XACK", stream(), "symfony", late.id}), 1) << "it is PHP's still";
}

TEST_F(RedisTransport, ManyAreTakenOverFromAConsumerThatIsGone) {
  const auto gone = open();
  const auto transport = open();
  for (int i = 0; i < 25; ++i) send(*gone, std::to_string(i));
  ASSERT_EQ(gone->receive(25).size(), 25U);
  under_test.pass_time(gone->redeliver_timeout() + seconds{1});
  EXPECT_EQ(transport->receive(10).size(), 10U);
  EXPECT_EQ(transport->receive(100).size(), 15U) << "there is no waiting for those that are left";
}

TEST_F(RedisTransport, AMessageThatWasTrimmedWhileSomebodyHeldItIsGone) {
  const auto gone = open();
  const auto transport = open();
  send(*gone, "1");
  ASSERT_EQ(gone->receive(1).size(), 1U);
  client().run({"XTRIM", stream(), "MAXLEN", "0"});
  under_test.pass_time(gone->redeliver_timeout() + seconds{1});
  send(*gone, "2");
  EXPECT_EQ(bodies_of(transport->receive(10)), Texts{"2"});
  EXPECT_EQ(transport->stats().in_flight, 1);
}

TEST_F(RedisTransport, AReleasedMessageIsForPhpAtOnce) {
  const auto transport = open();
  send(*transport, "1");
  const Hold hold = transport->receive(1).at(0).hold;
  transport->release({&hold, 1});
  const RedisClient::Reply read = client().run(
      {"XREADGROUP", "GROUP", "symfony", "php", "COUNT", "9", "STREAMS", stream(), ">"});
  EXPECT_EQ(read->elements, 1U);
  EXPECT_EQ(client().number({"XLEN", stream()}), 1);
}

TEST_F(RedisTransport, AConsumerThatHoldsNothingLeavesTheGroupAndOneThatDoesStays) {
  auto transport = open();
  send(*transport, "1");
  const Hold hold = transport->receive(1).at(0).hold;
  EXPECT_EQ(consumers().size(), 1U);
  transport.reset();
  EXPECT_EQ(consumers().size(), 1U) << "with it the message would be gone";
  transport = open();
  send(*transport, "2");
  const Hold other = transport->receive(1).at(0).hold;
  EXPECT_EQ(consumers().size(), 2U);
  EXPECT_EQ(settle(*transport, other), MessageSettleStatus::settled);
  transport.reset();
  EXPECT_EQ(consumers().size(), 1U);
}

TEST_F(RedisTransport, ConsumersThatDiedWithoutAMessageAreRemovedAndOthersAreNot) {
  const auto transport = open("redeliver_timeout=1");
  client().run({"XGROUP", "CREATECONSUMER", stream(), "symfony", "errand.host.1.dead"});
  client().run({"XGROUP", "CREATECONSUMER", stream(), "symfony", "php"});
  const auto is_removed = [&] {
    under_test.pass_time(seconds{1});
    static_cast<void>(transport->receive(1));
    const Texts names = consumers();
    return std::ranges::find(names, "errand.host.1.dead") == names.end();
  };
  EXPECT_TRUE(eventually(is_removed));
  const Texts names = consumers();
  EXPECT_NE(std::ranges::find(names, "php"), names.end());
}

// --- settings
// -------------------------------------------------------------------------------------

TEST_F(RedisTransport, WhatIsNotDeletedAfterItsEndIsNoMessageAnyMore) {
  const auto transport = open("delete_after_ack=no");
  for (int i = 0; i < 250; ++i) send(*transport, std::to_string(i));
  std::vector<Delivery> deliveries = transport->receive(240);
  ASSERT_EQ(deliveries.size(), 240U);
  for (std::size_t i = 0; i < 230; ++i) {
    ASSERT_EQ(settle(*transport, deliveries[i].hold), MessageSettleStatus::settled);
  }
  EXPECT_EQ(client().number({"XLEN", stream()}), 250);
  // A hole behind the last one delivered: the server does not know the number any more.
  client().run({"XDEL", stream(), transport->list(1, 11).at(0).id});
  EXPECT_EQ(transport->stats().ready, 9);
  EXPECT_EQ(transport->stats().in_flight, 10);
  const std::vector<StoredMessage> listed = transport->list(100, 0);
  ASSERT_EQ(listed.size(), 19U);
  EXPECT_EQ(listed[0].message.body, "230");
  EXPECT_FALSE(transport->find(deliveries[0].hold.id));
  EXPECT_EQ(transport->remove({&deliveries[0].hold.id, 1}), 0U);
  EXPECT_EQ(transport->purge(), 19U);
}

TEST_F(RedisTransport, WhatIsRejectedMayBeLeftToo) {
  const auto transport = open("delete_after_reject=no");
  send(*transport, "1");
  const MessageSettlement settlement{
      .hold = transport->receive(1).at(0).hold,
      .forward = MessageSettlement::Forward{transport.get(), outgoing("again")}};
  EXPECT_EQ(transport->settle({&settlement, 1}).at(0), MessageSettleStatus::settled);
  EXPECT_EQ(client().number({"XLEN", stream()}), 2);
  EXPECT_EQ(bodies_of(transport->receive(10)), Texts{"again"});
}

TEST_F(RedisTransport, AStreamMayHaveALength) {
  const auto transport = open("stream_max_entries=100");
  std::vector<Outgoing> messages(1000, outgoing("x"));
  transport->send(messages);
  EXPECT_LT(client().number({"XLEN", stream()}), 300) << "roughly, as Redis trims";
}

TEST_F(RedisTransport, AnotherGroupIsRefusedWhereMessagesAreDeleted) {
  static_cast<void>(open());
  client().run({"XGROUP", "CREATE", stream(), "others", "0"});
  EXPECT_THROW(static_cast<void>(open()), StorageException);
  EXPECT_NO_THROW(static_cast<void>(open("delete_after_ack=no&delete_after_reject=no")));
}

TEST_F(RedisTransport, AStreamThatAnotherProgramHasDeletedIsMadeAgain) {
  const auto transport = open();
  send(*transport, "1");
  const Hold hold = transport->receive(1).at(0).hold;
  client().run({"DEL", stream()});
  EXPECT_EQ(settle(*transport, hold), MessageSettleStatus::lost);
  EXPECT_EQ(transport->keep_alive({&hold, 1}).at(0), std::nullopt);
  EXPECT_EQ(transport->stats().ready, 0);
  send(*transport, "2");
  EXPECT_EQ(bodies_of(transport->receive(10)), Texts{"2"});
}

TEST_F(RedisTransport, AKeyOfAnotherKindIsAnErrorThatNamesIt) {
  client().run({"SET", stream(), "x"});
  EXPECT_THROW(static_cast<void>(open()), StorageException);
}

TEST_F(RedisTransport, AnErrorDoesNotTellThePassword) {
  for (const char* dsn : {"redis://u:hunter2@127.0.0.1:1/async?nonsense=1",
                          "redis://127.0.0.1:1/async?auth=hunter2&nonsense=1",
                          "redis://u:hunter2@127.0.0.1:1/async"}) {
    try {
      static_cast<void>(open_redis_transport(Dsn{dsn}));
      ADD_FAILURE() << "nobody is there";
    } catch (const Error& error) {
      EXPECT_EQ(std::string{error.what()}.find("hunter2"), std::string::npos);
    }
  }
}

// --- push
// -----------------------------------------------------------------------------------------

TEST_F(RedisTransport, AnEntryThatAnotherProgramAddsIsHeardOf) {
  const auto transport = open();
  // Whoever begins to listen is told of everything, once.
  SignalProbe beginning{transport->signals(), Signal::work};
  ASSERT_TRUE(beginning.hears());
  for (int i = 0; i < 3; ++i) {
    SignalProbe probe{transport->signals(), Signal::work};
    add({"message", kBareJson});
    EXPECT_TRUE(probe.hears_of_queue(stream())) << i;
  }
  EXPECT_TRUE(transport->signals().reaches_other_processes());
  EXPECT_EQ(transport->receive(10).size(), 3U) << "listening takes nothing away";
}

TEST_F(RedisTransport, TheServersScriptsMayBeForgottenAtAnyTime) {
  const auto transport = open();
  send(*transport, "later", seconds{1});
  send(*transport, "now");
  under_test.pass_time(seconds{1});
  client().run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(bodies_of(transport->receive(1)), Texts{"now"});
  const std::vector<Delivery> later = transport->receive(1);
  ASSERT_EQ(bodies_of(later), Texts{"later"});
  client().run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(settle(*transport, later[0].hold), MessageSettleStatus::settled);
}

}  // namespace errand::testing
