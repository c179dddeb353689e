#include <boost/describe/class.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "errand/bus.hpp"
#include "errand/errors.hpp"
#include "errand/handler.hpp"
#include "errand/memory_transport.hpp"

namespace errand {
namespace {

struct Sms {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(Sms, (), (to))

class BusTest : public ::testing::Test {
 protected:
  BusTest() { types.add<Sms>("sms.send"); }

  MessageTypes types;
  MemoryTransport async{"async"};
  MemoryTransport mail{"mail"};
};

TEST_F(BusTest, SendsToTheTransportOfTheTypeInSymfonysForm) {
  Bus bus{types, {{"sms.send", "App\\Message\\Sms"}}};
  bus.route("sms.send", async);
  const std::string id = bus.send(
      Sms{"+491"}, {.delay = std::chrono::milliseconds{2500}, .headers = {{"X-Own", "x"}}});
  const std::vector<Outgoing> sent = async.sent("App\\Message\\Sms");
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].delay, std::chrono::milliseconds{2500});
  EXPECT_EQ(sent[0].message.body, R"({"to":"+491"})");
  EXPECT_EQ(
      sent[0].message.headers,
      (Headers{{"type", "App\\Message\\Sms"},
               {"Content-Type", "application/json"},
               {"X-Own", "x"},
               {R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\DelayStamp)",
                R"([{"delay":2500}])"},
               {R"(X-Message-Stamp-Symfony\Component\Messenger\Stamp\TransportMessageIdStamp)",
                R"([{"id":")" + id + R"("}])"}}));
}

TEST_F(BusTest, ARouteMayHaveEitherNameOfAType) {
  Bus bus{types, {{"sms.send", "App\\Message\\Sms"}, {"mail.send", "App\\Message\\Mail"}}};
  bus.route("App\\Message\\*", async).route("mail.*", mail);
  EXPECT_EQ(bus.transport_for("sms.send").name(), "async");
  EXPECT_EQ(bus.transport_for("mail.send").name(), "async") << "the longer one";
  EXPECT_EQ(bus.transport_for("mail.other").name(), "mail");
  bus.route("mail.send", mail);
  EXPECT_EQ(bus.transport_for("App\\Message\\Mail").name(), "mail") << "the exact one";
}

TEST_F(BusTest, HeadersThatTheBusWritesItselfAreRefused) {
  Bus bus{types};
  bus.route("*", async);
  for (const char* name : {"type", "Content-Type"}) {
    EXPECT_THROW(bus.send(Sms{"+491"}, {.headers = {{name, "x"}}}), ValidationException) << name;
  }
  EXPECT_TRUE(async.sent().empty());
}

TEST_F(BusTest, TheLongestRouteThatFitsCounts) {
  Bus bus{types};
  bus.route("*", async).route("mail.*", mail).route("mail.special", async);
  EXPECT_EQ(bus.transport_for("sms.send").name(), "async");
  EXPECT_EQ(bus.transport_for("mail.send").name(), "mail");
  EXPECT_EQ(bus.transport_for("mail.special").name(), "async");
}

TEST_F(BusTest, WhatHasNoRouteSaysHowToGetOne) {
  Bus bus{types};
  bus.route("mail.*", mail);
  try {
    bus.send(Sms{"+491"});
    FAIL() << "it was sent somewhere";
  } catch (const ConfigurationException& error) {
    EXPECT_NE(std::string{error.what()}.find("route(\"sms.send\""), std::string::npos);
  }
  EXPECT_THROW(bus.route("mail.*", async), ConfigurationException);
  EXPECT_THROW(bus.route("", async), ConfigurationException);
}

TEST_F(BusTest, WhatNobodyCouldReadIsNotSent) {
  Bus bus{types};
  bus.route("*", async);
  const auto refusal = [&](const std::string& type, const Headers& headers) -> std::string {
    try {
      bus.send_json(type, "{}", {.headers = headers});
    } catch (const ValidationException& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("", {}), ::testing::StartsWith("type"));
  EXPECT_THAT(refusal(std::string(191, 't'), {}), ::testing::StartsWith("type"));
  for (const char* stamps : {"", "x", "1", "{}", "[1]", R"([{"delay":1},null])"}) {
    EXPECT_THAT(refusal("t", {{"X-Message-Stamp-App\\Tenant", stamps}}),
                ::testing::StartsWith("header X-Message-Stamp-App\\Tenant: expected"))
        << stamps;
  }
  EXPECT_TRUE(async.sent().empty());
  EXPECT_EQ(refusal(std::string(190, 't'), {{"X-Message-Stamp-App\\Tenant", R"([{"id":1}])"}}), "");
  EXPECT_EQ(async.sent().size(), 1U);
}

TEST_F(BusTest, ASyncTransportRunsTheHandlerWhileSending) {
  Handlers handlers;
  std::vector<std::string> seen;
  handlers.add<Sms>("sms.send", [&](const Sms& sms) { seen.push_back(sms.to); });
  SyncTransport sync{handlers};
  Bus bus{types};
  bus.route("*", sync);
  bus.send(Sms{"+491"});
  EXPECT_EQ(seen, std::vector<std::string>{"+491"});
  EXPECT_THROW(bus.send_json("unknown", "{}"), HandlerNotFound);
  EXPECT_TRUE(sync.receive(1).empty());
}

TEST_F(BusTest, ASyncTransportKnowsTheClassNamesOfTheBus) {
  const ClassNames class_names{{"sms.send", "App\\Message\\Sms"}};
  Handlers handlers;
  std::vector<std::string> seen;
  handlers.add<Sms>("sms.send", [&](const Sms& sms) { seen.push_back(sms.to); });
  SyncTransport sync{handlers, class_names};
  Bus bus{types, class_names};
  bus.route("*", sync);
  bus.send(Sms{"+491"});
  EXPECT_EQ(seen, std::vector<std::string>{"+491"});
}

TEST_F(BusTest, AMemoryTransportTellsWhichMessagesWereSent) {
  Bus bus{types};
  bus.route("*", async);
  bus.send(Sms{"+491"});
  bus.send(Sms{"+492"});
  bus.send_json("other", "[]");
  EXPECT_EQ(async.count_sent(), 3U);
  EXPECT_EQ(async.count_sent("sms.send"), 2U);
  EXPECT_EQ(async.count_sent("mail.send"), 0U);
  const std::vector<Sms> sent = async.sent_messages<Sms>("sms.send");
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].to, "+491");
  EXPECT_EQ(sent[1].to, "+492");
  EXPECT_THROW(static_cast<void>(async.sent_messages<Sms>("other")), ValidationException);
}

class SeveralHandlers : public ::testing::Test {
 protected:
  void first(std::function<void()> body) {
    handlers.add_raw("t", [body](const Envelope&, TaskContext&) -> std::string {
      body();
      return "1";
    });
  }
  void also(std::function<void()> body) {
    handlers.also_raw("t", [body](const Envelope&, TaskContext&) -> std::string {
      body();
      return "2";
    });
  }
  std::string run() {
    TaskContext context{TaskId::generate()};
    return handlers.run(Envelope{"t", "{}"}, context);
  }

  Handlers handlers;
  int ran = 0;
};

TEST_F(SeveralHandlers, AllRunAndTheFirstOnesResultCounts) {
  first([&] { ++ran; });
  also([&] { ++ran; });
  also([&] { ++ran; });
  EXPECT_EQ(run(), "1");
  EXPECT_EQ(ran, 3);
}

TEST_F(SeveralHandlers, OneThatThrowsDoesNotKeepTheOthersFromRunning) {
  first([] { throw std::out_of_range{"first"}; });
  also([&] { ++ran; });
  EXPECT_THROW(static_cast<void>(run()), std::out_of_range);
  EXPECT_EQ(ran, 1);
}

TEST_F(SeveralHandlers, SeveralThatThrowAreToldTogether) {
  first([] { throw std::runtime_error{"one"}; });
  also([] { throw Unrecoverable{"two"}; });
  try {
    static_cast<void>(run());
    FAIL();
  } catch (const HandlersFailed& error) {
    EXPECT_STREQ(error.what(),
                 "2 of 2 handlers failed: std::runtime_error: one; errand::Unrecoverable: two");
  }
}

TEST_F(SeveralHandlers, OnlyIfAllAreUnrecoverableItIs) {
  first([] { throw Unrecoverable{"one"}; });
  also([] { throw Unrecoverable{"two"}; });
  EXPECT_THROW(static_cast<void>(run()), Unrecoverable);
  also([] { throw Recoverable{"three"}; });
  EXPECT_THROW(static_cast<void>(run()), Recoverable);
}

}  // namespace
}  // namespace errand
