#include "app/builtin_handlers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "support/watched_thread.hpp"

namespace errand::detail {
namespace {

using ::testing::HasSubstr;

std::string run(const std::string& type, const std::string& body, std::stop_token stop = {}) {
  Handlers handlers;
  add_builtin_handlers(handlers);
  TaskContext context{TaskId::generate(), 1, std::move(stop)};
  return handlers.run(Envelope{type, body}, context);
}

TEST(BuiltinHandlers, EchoReturnsItsPayload) {
  EXPECT_EQ(run("errand.echo", R"({"any": [1, "thing"]})"), R"({"any": [1, "thing"]})");
}

TEST(BuiltinHandlers, SleepReturnsNull) { EXPECT_EQ(run("errand.sleep", R"({"ms":1})"), "null"); }

TEST(BuiltinHandlers, SleepEndsWhenItIsStopped) {
  std::stop_source stop;
  bool cancelled = false;
  testing::WatchedThread sleeper{[&] {
    try {
      static_cast<void>(run("errand.sleep", R"({"ms":86400000})", stop.get_token()));
    } catch (const Cancelled&) {
      cancelled = true;
    }
  }};
  EXPECT_TRUE(sleeper.falls_asleep());
  stop.request_stop();
  sleeper.join();
  EXPECT_TRUE(cancelled);
}

TEST(BuiltinHandlers, SleepRefusesTimesThatMakeNoSense) {
  for (const char* body : {R"({"ms":-1})", R"({"ms":86400001})", "{}", R"({"ms":"1"})"}) {
    EXPECT_THROW(static_cast<void>(run("errand.sleep", body)), Unrecoverable) << body;
  }
}

TEST(BuiltinHandlers, FailThrowsItsMessage) {
  try {
    static_cast<void>(run("errand.fail", R"({"message":"on purpose"})"));
    FAIL() << "must throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "on purpose");
  }
  EXPECT_THROW(static_cast<void>(run("errand.fail", "{}")), std::runtime_error);
}

TEST(BuiltinHandlers, LeaveTypesToTheProgramThatTookThem) {
  Handlers handlers;
  handlers.add_raw("errand.echo", [](const Envelope&, TaskContext&) { return "\"mine\""; });
  add_builtin_handlers(handlers);
  TaskContext context{TaskId::generate()};
  EXPECT_EQ(handlers.run(Envelope{"errand.echo", "1"}, context), "\"mine\"");
  EXPECT_TRUE(handlers.has("errand.sleep"));
  EXPECT_TRUE(handlers.has("errand.fail"));
}

}  // namespace
}  // namespace errand::detail
