#include "app/message_configuration.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

#include "support/temp_dir.hpp"

namespace errand::detail {
namespace {

std::string refusal(const std::string& json) {
  try {
    static_cast<void>(MessageConfiguration::parse(json, "errand.json"));
  } catch (const ConfigurationException& error) {
    return error.what();
  }
  return "";
}

TEST(MessageConfiguration, ReadsTransportsRoutesRetriesAndFailures) {
  const MessageConfiguration configuration = MessageConfiguration::parse(R"({
    "transports": {
      "async": {"dsn": "sqlite:a.db?queue_name=async", "failure_transport": "dead",
                "retry_strategy": {"max_retries": 2, "delay": 500, "multiplier": 1.5,
                                   "max_delay": 60000, "jitter": 0.1}},
      "dead": {"dsn": "sqlite:a.db?queue_name=dead"}},
    "failure_transport": "dead",
    "routing": {"App\\*": "async"},
    "class_names": {"x": "App\\X"}})",
                                                                         "errand.json");
  const TransportConfiguration& async = configuration.transports.at("async");
  EXPECT_EQ(async.dsn.option("queue_name"), "async");
  EXPECT_EQ(async.failure_transport, "dead");
  EXPECT_EQ(async.retry, (RetryPolicy{.max_retries = 2,
                                      .delay = std::chrono::milliseconds{500},
                                      .multiplier = 1.5,
                                      .max_delay = std::chrono::minutes{1},
                                      .jitter = 0.1}));
  EXPECT_EQ(configuration.transports.at("dead").retry, std::nullopt);
  EXPECT_EQ(configuration.routing.at("App\\*"), "async");
  EXPECT_EQ(configuration.class_names.at("x"), "App\\X");
}

TEST(MessageConfiguration, NamesThePlaceThatIsWrong) {
  const auto says = [](const std::string& json, const std::string& place) {
    EXPECT_EQ(refusal(json).rfind("errand.json: " + place, 0), 0U) << refusal(json);
  };
  says("{", "not JSON at line 1, column 2");
  says("{\n  \"é\": x}", "not JSON at line 2, column 8: unexpected text: x");
  says("{\n  \"x\": 1e400}", "number out of range at line 2, column 8: a double cannot hold 1e400");
  says("[]", "expected an object");
  says(R"({"x":1})", "x: unknown");
  says(R"({"transports":{"a":{"dsn":1}}})", "transports.a.dsn: expected a string");
  says(R"({"transports":{"a":{"dsn":"sqlite:a.db","retry_strategy":{"delay":-1}}}})",
       "transports.a.retry_strategy.delay: ");
  says(R"({"transports":{"a":{"dsn":"sqlite:a.db","retry_strategy":{"multiplier":0}}}})",
       "transports.a.retry_strategy: retry policy");
  says(R"({"transports":{"a:b":{"dsn":"sqlite:a.db"}}})", "transports.a:b: ");
  says(R"({"failure_transport":"none"})", "failure_transport: there is no transport none");
}

TEST(OpenTransports, AreOpenedOnceByNameOrDsnAndHaveAFailureTransport) {
  const testing::TempDir directory;
  const std::string file = "sqlite:" + (directory / "a.db").string();
  OpenTransports transports{
      MessageConfiguration::parse(
          R"({"transports":{"async":{"dsn":")" + file + R"(?queue_name=q"}}})", "errand.json"),
      {}};
  Transport& async = transports.get("async");
  EXPECT_EQ(async.name(), "async") << "not as its queue";
  EXPECT_EQ(&transports.get("async"), &async);
  EXPECT_EQ(transports.failure_of("async").name(), "failed");
  EXPECT_EQ(&transports.failure_of("async"), transports.consumed("async").failure);
  EXPECT_TRUE(transports.knows("async"));
  EXPECT_FALSE(transports.knows("q")) << "that is its queue";
  EXPECT_EQ(transports.get(file + "?queue_name=third").name(), "third");
  EXPECT_THROW(static_cast<void>(transports.get("asinc")), ConfigurationException);
}

TEST(OpenTransports, KnowWhichOnesHoldFailures) {
  const auto with = [](const std::string& json) {
    return OpenTransports{MessageConfiguration::parse(json, "errand.json"), {}};
  };
  const OpenTransports implied = with(R"({"transports":{"async":{"dsn":"sqlite:a.db"}}})");
  EXPECT_TRUE(implied.is_failure_transport("failed")) << "the queue beside it";
  EXPECT_FALSE(implied.is_failure_transport("async"));
  EXPECT_TRUE(implied.is_failure_transport("sqlite:b.db?queue_name=failed"));
  EXPECT_TRUE(implied.is_failure_transport("sqlite:b.db?table_name=failed_messages"));
  EXPECT_TRUE(implied.is_failure_transport("redis://h/failed"));
  EXPECT_FALSE(implied.is_failure_transport("sqlite:a.db"));
  EXPECT_FALSE(implied.is_failure_transport("redis://h/async"));
  const OpenTransports named =
      with(R"({"transports":{"async":{"dsn":"sqlite:a.db","failure_transport":"dead"},)"
           R"("dead":{"dsn":"sqlite:a.db?queue_name=dead"}}})");
  EXPECT_EQ(named.failure_names(), std::vector<std::string>{"dead"});
  EXPECT_FALSE(named.is_failure_transport("failed"));
  EXPECT_TRUE(named.is_failure_transport("sqlite:a.db?queue_name=dead"));
}

TEST(OpenTransports, AWrongDsnIsToldWithTheFormsThatTransportsHave) {
  const OpenTransports transports{{}, {}};
  for (const char* dsn : {"foo://x", "mysql://h/d", "doctrine://default"}) {
    try {
      static_cast<void>(transports.is_failure_transport(dsn));
      FAIL() << dsn;
    } catch (const ConfigurationException& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("queue_name=async"), std::string::npos) << what;
      EXPECT_EQ(what.find("--dsn"), std::string::npos) << what;
      EXPECT_EQ(what.find("mysql://"), std::string::npos) << what;
    }
  }
}

}  // namespace
}  // namespace errand::detail
