#include "worker/executor.hpp"

#include <boost/json/value.hpp>
#include <cerrno>
#include <exception>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "errand/task.hpp"

#include "support/recording_logger.hpp"
#include "unit/worker/claims.hpp"

namespace shop {

struct NotAnException {
  int value = 0;
};

class CardRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace shop

namespace errand::detail {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using testing::claim_of;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RecordingLogger;

constexpr const char* kThisFile = "executor_test.cpp";

/// Where the handler of the test threw; the throw is on the line after the call.
struct Sites {
  int here = 0;
  void next_line(int line) { here = line + 1; }
};

class ExecutorTest : public ::testing::Test {
 protected:
  template <class F>
  void handle(F handler) {
    handlers.add<boost::json::value>("a.type",
                                     [handler](const boost::json::value&, TaskContext& context) {
                                       if constexpr (std::is_invocable_v<F, TaskContext&>) {
                                         return handler(context);
                                       } else {
                                         return handler();
                                       }
                                     });
  }

  Outcome run(HeldTask& task) { return std::get<Outcome>(Executor{handlers, logger}.run(task)); }
  Outcome run(int attempt = 1) {
    HeldTask task{claim_of(Envelope{"a.type", "1"}, attempt)};
    return run(task);
  }
  /// The error of an attempt that will be repeated.
  ExceptionData error_of_retried() {
    const Outcome outcome = run();
    const auto* retried = std::get_if<Retried>(&outcome);
    if (retried == nullptr) throw std::logic_error{"the attempt will not be retried"};
    return retried->error;
  }

  Handlers handlers;
  RecordingLogger logger;
};

TEST_F(ExecutorTest, WhatTheHandlerReturnsIsTheResult) {
  handle([] { return std::string{"done"}; });
  const Outcome outcome = run();
  ASSERT_TRUE(std::holds_alternative<Completed>(outcome));
  EXPECT_EQ(std::get<Completed>(outcome).result, R"("done")");
  EXPECT_THAT(logger.lines(), ElementsAre());
}

TEST_F(ExecutorTest, TheHandlerKnowsItsAttempt) {
  handle([](TaskContext& context) {
    return context.id().to_string() + " " + std::to_string(context.attempt());
  });
  HeldTask task{claim_of(Envelope{"a.type", "1"}, 3)};
  const Outcome outcome = run(task);
  EXPECT_EQ(std::get<Completed>(outcome).result, "\"" + task.claim().lease.id.to_string() + " 3\"");
}

TEST_F(ExecutorTest, AnErrorIsDescribedWithThePlaceItWasThrown) {
  Sites sites;
  handle([&] {
    sites.next_line(__LINE__);
    throw std::runtime_error{"it broke"};
  });
  const ExceptionData error = error_of_retried();
  EXPECT_EQ(error.class_name, "std::runtime_error");
  EXPECT_EQ(error.message, "it broke");
  EXPECT_THAT(error.file, EndsWith(kThisFile));
  EXPECT_EQ(error.line, sites.here);
  EXPECT_THAT(error.trace, AllOf(HasSubstr("#0 "), HasSubstr(std::string{kThisFile} + ":" +
                                                             std::to_string(sites.here))));
  EXPECT_EQ(error.previous, nullptr);
}

TEST_F(ExecutorTest, TheTraceEndsWhereTheHandlerBegins) {
  handle([] { throw std::runtime_error{"it broke"}; });
  EXPECT_THAT(error_of_retried().trace,
              AllOf(Not(HasSubstr("__cxa_throw")), Not(HasSubstr("note_throw")),
                    Not(HasSubstr("Executor::")), Not(HasSubstr("errand::Handlers"))));
}

TEST_F(ExecutorTest, AThrowInsideTheStandardLibraryIsPlacedInTheHandlersCode) {
  Sites sites;
  handle([&] {
    const std::string text;
    sites.next_line(__LINE__);
    return static_cast<int>(text.at(static_cast<std::size_t>(sites.here)));
  });
  const ExceptionData error = error_of_retried();
  EXPECT_EQ(error.class_name, "std::out_of_range");
  EXPECT_THAT(error.file, EndsWith(kThisFile));
  EXPECT_EQ(error.line, sites.here);
}

TEST_F(ExecutorTest, NestedErrorsHavePlacesOfTheirOwn) {
  Sites inner;
  Sites middle;
  Sites outer;
  handle([&] {
    try {
      try {
        inner.next_line(__LINE__);
        throw std::system_error{ECONNREFUSED, std::generic_category(), "connect"};
      } catch (...) {
        middle.next_line(__LINE__);
        std::throw_with_nested(shop::CardRefused{"no bank"});
      }
    } catch (...) {
      outer.next_line(__LINE__);
      std::throw_with_nested(std::runtime_error{"no sale"});
    }
  });
  const ExceptionData error = error_of_retried();
  ASSERT_NE(error.previous, nullptr);
  ASSERT_NE(error.previous->previous, nullptr);
  const ExceptionData& second = *error.previous;
  const ExceptionData& third = *second.previous;
  EXPECT_EQ(error.message, "no sale");
  EXPECT_EQ(second.message, "no bank");
  EXPECT_EQ(third.code, ECONNREFUSED);
  EXPECT_EQ(error.line, outer.here);
  EXPECT_EQ(second.line, middle.here);
  EXPECT_EQ(third.line, inner.here);
  for (const ExceptionData* one : {&error, &second, &third}) {
    EXPECT_THAT(one->file, EndsWith(kThisFile));
    EXPECT_THAT(one->trace, HasSubstr(kThisFile));
  }
}

TEST_F(ExecutorTest, AnythingThrownIsAFailure) {
  const auto expect = [&](auto thrown, const std::string& class_name, const std::string& message) {
    SCOPED_TRACE(class_name);
    Handlers one;
    one.add<boost::json::value>("a.type", [thrown](const boost::json::value&) { throw thrown; });
    HeldTask task{claim_of(Envelope{"a.type", "1"})};
    const auto outcome = std::get<Outcome>(Executor{one, logger}.run(task));
    ASSERT_TRUE(std::holds_alternative<Retried>(outcome));
    const ExceptionData& error = std::get<Retried>(outcome).error;
    EXPECT_EQ(error.class_name, class_name);
    EXPECT_EQ(error.message, message);
    EXPECT_THAT(error.file, EndsWith(kThisFile));
    EXPECT_GT(error.line, 0);
  };
  expect(42, "int", "42");
  expect("text", "char const*", "text");
  expect(std::string{"words"}, readable_type_name(typeid(std::string)), "words");
  expect(std::bad_alloc{}, "std::bad_alloc", "std::bad_alloc");
  expect(shop::NotAnException{1}, "shop::NotAnException",
         "an object of type shop::NotAnException, which is not a std::exception, was thrown");
}

TEST_F(ExecutorTest, AnErrorOfAnotherThreadHasNoPlaceRatherThanAWrongOne) {
  // The first error leaves its note, and its memory for the next one of the same size.
  handlers.add<boost::json::value>(
      "first", [](const boost::json::value&) { throw std::runtime_error{"thrown here"}; });
  handle([] { std::rethrow_exception(std::make_exception_ptr(std::runtime_error{"made"})); });
  HeldTask first{claim_of(Envelope{"first", "1"})};
  EXPECT_GT(std::get<Retried>(run(first)).error.line, 0);
  const ExceptionData error = error_of_retried();
  EXPECT_EQ(error.message, "made");
  EXPECT_EQ(error.line, 0);
  EXPECT_EQ(error.trace, "");
}

TEST_F(ExecutorTest, AnErrorOfTheLastAttemptFailsTheTask) {
  handle([] { throw std::runtime_error{"it broke"}; });
  EXPECT_TRUE(std::holds_alternative<Retried>(run(3)));
  const Outcome outcome = run(4);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).error.message, "it broke");
}

TEST_F(ExecutorTest, UnrecoverableFailsAtOnce) {
  Sites sites;
  handle([&] {
    sites.next_line(__LINE__);
    throw Unrecoverable{"no such customer"};
  });
  const Outcome outcome = run();
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  const ExceptionData& error = std::get<Failed>(outcome).error;
  EXPECT_EQ(error.class_name, "errand::Unrecoverable");
  EXPECT_EQ(error.message, "no such customer");
  EXPECT_EQ(error.line, sites.here);
}

TEST_F(ExecutorTest, RetryLaterSetsItsOwnTime) {
  handle([] { throw RetryLater{seconds{77}, "mail not there yet"}; });
  const Outcome outcome = run();
  ASSERT_TRUE(std::holds_alternative<Retried>(outcome));
  EXPECT_EQ(std::get<Retried>(outcome).after, seconds{77});
  EXPECT_EQ(std::get<Retried>(outcome).error.message, "mail not there yet");
  EXPECT_GT(std::get<Retried>(outcome).error.line, 0);
}

TEST_F(ExecutorTest, AHandlerThatStopsOnRequestEndsByTheReasonItWasGiven) {
  const auto outcome_of = [&](StopReason reason) {
    Handlers stopping;
    HeldTask task{claim_of(Envelope{"a.type", "1"})};
    stopping.add<boost::json::value>("a.type",
                                     [&](const boost::json::value&, TaskContext& context) {
                                       EXPECT_FALSE(context.stop_token().stop_requested());
                                       task.ask_to_stop(reason);
                                       EXPECT_TRUE(context.stop_token().stop_requested());
                                       context.throw_if_stopped();
                                     });
    return std::get<Outcome>(Executor{stopping, logger}.run(task));
  };
  EXPECT_TRUE(std::holds_alternative<CancelHonoured>(outcome_of(StopReason::cancel)));
  EXPECT_TRUE(std::holds_alternative<Released>(outcome_of(StopReason::shutdown)));
  // Whatever it says: the task is not this worker's any more.
  EXPECT_TRUE(std::holds_alternative<CancelHonoured>(outcome_of(StopReason::lease_lost)));
  EXPECT_THAT(logger.lines(), ElementsAre()) << "a stop is no failure";
}

TEST_F(ExecutorTest, ATaskThatItsHandlerCompletedItselfNeedsNoOutcome) {
  handle([](TaskContext& context) {
    AttemptEnd{context}.set_completed();
    return 1;
  });
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  EXPECT_EQ(std::get<EndedByHandler>(Executor{handlers, logger}.run(task)),
            EndedByHandler::completed);
}

TEST_F(ExecutorTest, ACompletedTaskStaysCompletedWhateverItsHandlerThrowsAfterwards) {
  handle([](TaskContext& context) -> int {
    AttemptEnd{context}.set_completed();
    throw std::runtime_error{"too late"};
  });
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  EXPECT_EQ(std::get<EndedByHandler>(Executor{handlers, logger}.run(task)),
            EndedByHandler::completed);
  EXPECT_THAT(logger.lines(), ElementsAre(HasSubstr("too late")));
}

TEST_F(ExecutorTest, AnAttemptThatFoundItsLeaseLostIsNeitherCancelledNorFailed) {
  handle([](TaskContext& context) -> int {
    AttemptEnd{context}.set_lease_lost();
    throw Cancelled{};
  });
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  EXPECT_EQ(std::get<EndedByHandler>(Executor{handlers, logger}.run(task)),
            EndedByHandler::lease_lost);
}

TEST_F(ExecutorTest, AHandlerMayFinishAlthoughItWasAskedToStop) {
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  handle([&] {
    task.ask_to_stop(StopReason::cancel);
    return 7;
  });
  const Outcome outcome = run(task);
  ASSERT_TRUE(std::holds_alternative<Completed>(outcome));
  EXPECT_EQ(std::get<Completed>(outcome).result, "7");
}

TEST_F(ExecutorTest, ATaskStoppedBeforeItsStartDoesNotReachTheHandler) {
  int calls = 0;
  handle([&] { ++calls; });
  HeldTask cancelled{claim_of(Envelope{"a.type", "1"})};
  cancelled.ask_to_stop(StopReason::cancel);
  EXPECT_TRUE(std::holds_alternative<CancelHonoured>(run(cancelled)));
  HeldTask released{claim_of(Envelope{"a.type", "1"})};
  released.ask_to_stop(StopReason::shutdown);
  EXPECT_TRUE(std::holds_alternative<Released>(run(released)));
  EXPECT_EQ(calls, 0);
}

TEST_F(ExecutorTest, TheFirstReasonToStopStays) {
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  EXPECT_EQ(task.stop_reason(), StopReason::none);
  task.ask_to_stop(StopReason::shutdown);
  task.ask_to_stop(StopReason::cancel);
  EXPECT_EQ(task.stop_reason(), StopReason::shutdown);
}

TEST_F(ExecutorTest, ATypeWithoutHandlerIsTriedAgainBecauseAnotherProgramMayHaveIt) {
  const ExceptionData error = error_of_retried();
  EXPECT_EQ(error.class_name, "errand::HandlerNotFound");
  EXPECT_THAT(error.message, HasSubstr("a.type"));
}

TEST_F(ExecutorTest, APayloadThatDoesNotFitFailsAtOnce) {
  handlers.add<int>("number", [](int number) { return number; });
  HeldTask task{claim_of(Envelope{"number", R"("seven")"})};
  const Outcome outcome = run(task);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).error.class_name, "errand::Unrecoverable");
}

TEST_F(ExecutorTest, AResultThatCannotBeStoredFailsAtOnce) {
  const auto error_of = [&](const std::string& result) {
    Handlers raw;
    raw.add_raw("a.type", [&](const Envelope&, TaskContext&) { return result; });
    HeldTask task{claim_of(Envelope{"a.type", "1"})};
    const auto outcome = std::get<Outcome>(Executor{raw, logger}.run(task));
    return std::holds_alternative<Failed>(outcome) ? std::get<Failed>(outcome).error.message
                                                   : std::string{"did not fail"};
  };
  EXPECT_THAT(error_of("\"\xff\""), AllOf(HasSubstr("result"), HasSubstr("UTF-8")));
  EXPECT_THAT(error_of(std::string{"\"\0\"", 3}), AllOf(HasSubstr("result"), HasSubstr("NUL")));
  EXPECT_THAT(error_of(std::string(kMaxDocumentBytes + 1, '1')),
              AllOf(HasSubstr("result"), HasSubstr(std::to_string(kMaxDocumentBytes))));
  EXPECT_EQ(error_of(std::string(kMaxDocumentBytes, '1')), "did not fail");
}

TEST_F(ExecutorTest, ProgressReachesTheTaskTheNewestOnly) {
  HeldTask task{claim_of(Envelope{"a.type", "1"})};
  handle([](TaskContext& context) {
    context.progress(1, 10, "first");
    context.progress(2, 10, "second");
  });
  EXPECT_EQ(task.take_progress(), std::nullopt);
  static_cast<void>(run(task));
  EXPECT_EQ(task.take_progress(), (Progress{2, 10, "second"}));
  EXPECT_EQ(task.take_progress(), std::nullopt) << "it is taken";
}

TEST_F(ExecutorTest, TheHandlerLogsToTheWorkersLogger) {
  handle([](TaskContext& context) { context.log().info("hello from the handler"); });
  static_cast<void>(run());
  EXPECT_THAT(logger.lines(), ElementsAre("hello from the handler"));
}

TEST_F(ExecutorTest, FailuresAreLoggedWithWhatComesNext) {
  handle([] { throw std::runtime_error{"it broke"}; });
  static_cast<void>(run(2));
  static_cast<void>(run(4));
  EXPECT_THAT(logger.lines(),
              ElementsAre(AllOf(HasSubstr("a.type"), HasSubstr("attempt 2"),
                                HasSubstr("std::runtime_error: it broke"),
                                HasSubstr("next attempt in 5000 ms")),
                          AllOf(HasSubstr("attempt 4"), HasSubstr("no further attempt"))));
}

TEST_F(ExecutorTest, MiddlewareSurroundsTheHandlerTheFirstOneOutermost) {
  std::vector<std::string> seen;
  const auto layer = [&](const std::string& name) {
    return [&seen, name](const Envelope&, TaskContext&, const Next& next) {
      seen.push_back(name + " in");
      std::string result = next();
      seen.push_back(name + " out");
      return result;
    };
  };
  handlers.use(layer("outer"));
  handlers.use(layer("inner"));
  handle([&] { seen.emplace_back("handler"); });
  static_cast<void>(run());
  EXPECT_THAT(seen, ElementsAre("outer in", "inner in", "handler", "inner out", "outer out"));
}

TEST_F(ExecutorTest, MiddlewareMayAnswerInsteadOfTheHandler) {
  int calls = 0;
  handlers.use(
      [](const Envelope&, TaskContext&, const Next&) { return std::string{"\"cached\""}; });
  handle([&] { ++calls; });
  EXPECT_EQ(std::get<Completed>(run()).result, "\"cached\"");
  EXPECT_EQ(calls, 0);
}

TEST_F(ExecutorTest, MiddlewareMayRefuse) {
  int calls = 0;
  handlers.use([](const Envelope&, TaskContext&, const Next&) -> std::string {
    throw Unrecoverable{"not today"};
  });
  handle([&] { ++calls; });
  EXPECT_EQ(std::get<Failed>(run()).error.message, "not today");
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace errand::detail
