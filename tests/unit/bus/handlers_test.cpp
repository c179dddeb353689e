#include <boost/describe/class.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "errand/handler.hpp"

namespace shop {

struct SendEmail {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(SendEmail, (), (to))

struct Receipt {
  bool sent = false;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (sent))

}  // namespace shop

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Envelope kEmail{"email.send", R"({"to":"a@b.c"})"};

std::string run(const Handlers& handlers, const Envelope& envelope) {
  TaskContext context{TaskId::generate()};
  return handlers.run(envelope, context);
}

TEST(Handlers, DecodesTheMessageAndEncodesTheResult) {
  Handlers handlers;
  handlers.add<shop::SendEmail>(
      "email.send", [](const shop::SendEmail& mail) { return shop::Receipt{mail.to == "a@b.c"}; });
  EXPECT_EQ(run(handlers, kEmail), R"({"sent":true})");
}

TEST(Handlers, ThatReturnNothingHaveTheResultNull) {
  Handlers handlers;
  std::string seen;
  handlers.add<shop::SendEmail>("email.send", [&](const shop::SendEmail& mail) { seen = mail.to; });
  EXPECT_EQ(run(handlers, kEmail), "null");
  EXPECT_EQ(seen, "a@b.c");
}

TEST(Handlers, GetTheContextIfTheyWantIt) {
  Handlers handlers;
  handlers.add<shop::SendEmail>("email.send", [](const shop::SendEmail&, TaskContext& context) {
    context.progress(1, 2, "half");
    return context.id().to_string() + " " + std::to_string(context.attempt());
  });
  std::optional<Progress> reported;
  const TaskId id = TaskId::generate();
  TaskContext context{
      id, 3, {}, silent_logger(), [&](Progress progress) { reported = std::move(progress); }};
  EXPECT_EQ(handlers.run(kEmail, context), "\"" + id.to_string() + " 3\"");
  EXPECT_EQ(reported, (Progress{1, 2, "half"}));
}

TEST(Handlers, ABodyThatDoesNotFitIsUnrecoverable) {
  Handlers handlers;
  handlers.add<shop::SendEmail>("email.send", [](const shop::SendEmail&) {});
  for (const char* body : {"", "{}", "[]", R"({"to":1})"}) {
    EXPECT_THROW(static_cast<void>(run(handlers, Envelope{"email.send", body})), Unrecoverable)
        << body;
  }
  try {
    static_cast<void>(run(handlers, Envelope{"email.send", R"({"to":1})"}));
  } catch (const Unrecoverable& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("email.send"), HasSubstr("to: expected a string, got a number")));
  }
}

TEST(Handlers, WhatTheyThrowComesOut) {
  Handlers handlers;
  handlers.add<boost::json::value>("a", [](const boost::json::value&) { throw 42; });
  handlers.add<boost::json::value>("b", [](const boost::json::value&) {
    throw RetryLater{std::chrono::seconds{5}, "wait"};
  });
  EXPECT_THROW(static_cast<void>(run(handlers, Envelope{"a", "1"})), int);
  try {
    static_cast<void>(run(handlers, Envelope{"b", "1"}));
    FAIL() << "must throw";
  } catch (const RetryLater& error) {
    EXPECT_EQ(error.after(), std::chrono::seconds{5});
    EXPECT_STREQ(error.what(), "wait");
  }
}

TEST(Handlers, AValidationErrorOfTheHandlerItselfIsNotABadBody) {
  Handlers handlers;
  handlers.add<boost::json::value>(
      "a", [](const boost::json::value&) { throw ValidationException{"mine"}; });
  EXPECT_THROW(static_cast<void>(run(handlers, Envelope{"a", "1"})), ValidationException);
}

TEST(Handlers, KnowTheirTypes) {
  Handlers handlers;
  EXPECT_FALSE(handlers.has("a"));
  EXPECT_THAT(handlers.types(), ElementsAre());
  handlers.add_raw("b", [](const Envelope& envelope, TaskContext&) { return envelope.body(); });
  handlers.add_raw("a", [](const Envelope& envelope, TaskContext&) { return envelope.body(); });
  EXPECT_TRUE(handlers.has("a"));
  EXPECT_FALSE(handlers.has("A"));
  EXPECT_THAT(handlers.types(), ElementsAre("a", "b"));
}

TEST(Handlers, ATypeWithoutOneIsAnErrorThatNamesTheTypesThereAre) {
  Handlers handlers;
  const auto error_for = [&](const std::string& type) -> std::string {
    try {
      return run(handlers, Envelope{type, "1"});
    } catch (const HandlerNotFound& error) {
      return error.what();
    }
  };
  EXPECT_THAT(error_for("c"), AllOf(HasSubstr("no handler for type c"), HasSubstr("none at all")));
  handlers.add_raw("a", [](const Envelope&, TaskContext&) { return std::string{"1"}; });
  handlers.add_raw("b", [](const Envelope&, TaskContext&) { return std::string{"2"}; });
  EXPECT_THAT(error_for("c"),
              AllOf(HasSubstr("handlers for a, b"), HasSubstr("--exec 'TYPE=COMMAND'")));
}

TEST(Handlers, RefuseASecondOneForAType) {
  Handlers handlers;
  const RawHandler first = [](const Envelope&, TaskContext&) { return std::string{"1"}; };
  handlers.add_raw("a", first);
  EXPECT_THROW(handlers.add_raw("a", first), ConfigurationException);
  EXPECT_EQ(run(handlers, Envelope{"a", ""}), "1");
}

TEST(Handlers, RefuseWhatCannotWork) {
  Handlers handlers;
  const RawHandler some = [](const Envelope&, TaskContext&) { return std::string{"1"}; };
  EXPECT_THROW(handlers.add_raw("", some), ConfigurationException);
  EXPECT_THROW(handlers.add_raw("a\nb", some), ConfigurationException);
  EXPECT_THROW(handlers.add_raw(std::string(191, 'x'), some), ConfigurationException);
  EXPECT_THROW(handlers.add_raw("a", nullptr), ConfigurationException);
  EXPECT_THROW(handlers.use(nullptr), ConfigurationException);
  EXPECT_THAT(handlers.types(), ElementsAre());
}

TEST(Middleware, WrapsTheHandlerTheFirstOneOutermost) {
  std::vector<std::string> calls;
  Handlers handlers;
  const auto layer = [&](const std::string& name) {
    return [&calls, name](const Envelope& envelope, TaskContext&, const Next& next) {
      calls.push_back(name + " before " + envelope.type());
      std::string result = next();
      calls.push_back(name + " after " + result);
      return result + name;
    };
  };
  handlers.use(layer("a"));
  handlers.use(layer("b"));
  handlers.add_raw("t", [&](const Envelope&, TaskContext&) {
    calls.emplace_back("handler");
    return std::string{"r"};
  });
  EXPECT_EQ(run(handlers, Envelope{"t", ""}), "rba");
  EXPECT_THAT(calls, ElementsAre("a before t", "b before t", "handler", "b after r", "a after rb"));
}

TEST(Middleware, MayRefuseRepeatAndTranslateErrors) {
  int runs = 0;
  Handlers handlers;
  handlers.use([](const Envelope& envelope, TaskContext&, const Next& next) -> std::string {
    if (envelope.body() == "refuse") throw Unrecoverable{"refused"};
    try {
      return next();
    } catch (const std::runtime_error&) {
      return next();
    }
  });
  handlers.add_raw("t", [&](const Envelope&, TaskContext&) -> std::string {
    if (++runs == 1) throw std::runtime_error{"first"};
    return "second";
  });
  EXPECT_THROW(static_cast<void>(run(handlers, Envelope{"t", "refuse"})), Unrecoverable);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(run(handlers, Envelope{"t", ""}), "second");
  EXPECT_EQ(runs, 2);
}

TEST(Handlers, ServeManyThreadsAtOnce) {
  Handlers handlers;
  handlers.use([](const Envelope&, TaskContext&, const Next& next) { return next(); });
  handlers.add<int>("double", [](int n) { return 2 * n; });
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        const int n = t * 1000 + i;
        ASSERT_EQ(run(handlers, Envelope{"double", std::to_string(n)}), std::to_string(2 * n));
      }
    });
  }
}

TEST(TaskContext, SaysWhenToStop) {
  std::stop_source source;
  TaskContext context{TaskId::generate(), 1, source.get_token()};
  EXPECT_NO_THROW(context.throw_if_stopped());
  source.request_stop();
  EXPECT_THROW(context.throw_if_stopped(), Cancelled);
}

TEST(TaskContext, WorksWithoutAWorker) {
  TaskContext context{TaskId::generate()};
  EXPECT_EQ(context.attempt(), 1);
  EXPECT_NO_THROW(context.progress(1, 2));
  EXPECT_NO_THROW(context.log().info("nobody hears"));
  EXPECT_NO_THROW(context.throw_if_stopped());
}

TEST(Envelope, WithAnotherHeaderIsAnotherEnvelope) {
  const Envelope first{"t", "b", {{"a", "1"}}};
  const Envelope second = first.with_header("b", "2").with_header("a", "3");
  EXPECT_EQ(first.headers(), (Headers{{"a", "1"}}));
  EXPECT_EQ(second.headers(), (Headers{{"a", "3"}, {"b", "2"}}));
  EXPECT_EQ(second.type(), "t");
  EXPECT_EQ(second.body(), "b");
}

}  // namespace
}  // namespace errand
