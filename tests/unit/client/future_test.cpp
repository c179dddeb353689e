#include "errand/future.hpp"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>

#include "errand/errors.hpp"
#include "errand/tasks.hpp"

#include "support/milestone.hpp"
#include "support/told_engine.hpp"
#include "support/watched_thread.hpp"
#include "unit/client/client_fixture.hpp"

namespace shop {

class CardRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace shop

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::AllOf;
using testing::Call;
using ::testing::HasSubstr;
using testing::kPatience;
using Retry = StorageException::Retry;

ExceptionData card_refused() {
  ExceptionData cause;
  cause.class_name = "bank::Offline";
  cause.message = "no line";
  ExceptionData error;
  error.class_name = "shop::CardRefused";
  error.message = "no money";
  error.code = 51;
  error.file = "card.cpp";
  error.line = 12;
  error.trace = "#0 charge at card.cpp:12";
  error.previous = std::make_shared<const ExceptionData>(cause);
  return error;
}

class FutureTest : public testing::Client {
 protected:
  TaskFuture<shop::Receipt> submit() { return tasks.submit(shop::Charge{1}); }

  /// A thread that is in get(), and has asked the storage in vain already.
  std::future<shop::Receipt> waiting_get(const TaskFuture<shop::Receipt>& future) {
    const std::size_t before = engine.calls(Call::finished);
    auto got = std::async(std::launch::async, [future] { return future.get(kPatience); });
    EXPECT_TRUE(engine.was_called(Call::finished, before + 1));
    return got;
  }
};

TEST_F(FutureTest, GetReturnsTheResultOfATaskThatIsFinished) {
  const auto future = submit();
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(future.get().number, 7);
  EXPECT_EQ(future.get().number, 7) << "asking twice is fine";
  EXPECT_EQ(future.get_json(), R"({"number":7})");
}

TEST_F(FutureTest, GetWaitsForTheResultThatAnotherProcessStores) {
  const auto future = submit();
  auto got = waiting_get(future);
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(got.get().number, 7);
}

TEST_F(FutureTest, GetTakesTheResultThatComesWithTheSignal) {
  testing::ToldEngine told{file.open(clock)};
  Tasks of_told{told, messages, exceptions, kSignalsOnly};
  const TaskHandle task = of_told.submit_json("email.send", "{}");
  std::string got;
  testing::WatchedThread caller{[&] { got = task.get_json(); }};
  ASSERT_TRUE(caller.falls_asleep());
  told.tell(Finish{.id = task.id(), .result = "7"});
  caller.join();
  EXPECT_EQ(got, "7") << "nobody has stored it: a look would have found nothing";
}

TEST_F(FutureTest, ManyThreadsMayWaitForOneTask) {
  const auto future = submit();
  auto first = waiting_get(future);
  auto second = waiting_get(future);
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(first.get().number, 7);
  EXPECT_EQ(second.get().number, 7);
}

TEST_F(FutureTest, OfVoidIgnoresTheResult) {
  const TaskFuture<void> future = submit();
  finish(future.id(), Completed{"null"});
  EXPECT_NO_THROW(future.get());
}

TEST_F(FutureTest, GetGivesUpAfterItsTimeoutAndTheTaskGoesOn) {
  const auto future = submit();
  const Lease lease = start(future.id());
  try {
    static_cast<void>(future.get(milliseconds{1}));
    FAIL() << "must throw";
  } catch (const TimeoutException& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(future.id().to_string()), HasSubstr("1 ms")));
  }
  EXPECT_EQ(future.status(), TaskStatus::running);
  const Settlement settlement{lease, Completed{R"({"number":7})"}};
  other_process->queue().settle({&settlement, 1});
  EXPECT_EQ(future.get().number, 7);
}

TEST_F(FutureTest, WaitSaysWhetherTheTaskIsFinal) {
  const auto future = submit();
  EXPECT_FALSE(future.wait(milliseconds{1}));
  finish(future.id(), Failed{card_refused()});
  EXPECT_TRUE(future.wait()) << "how it ended does not matter";
}

TEST_F(FutureTest, WaitWithATimeoutOfZeroOnlyLooks) {
  const auto future = submit();
  EXPECT_FALSE(future.wait(milliseconds{0}));
  EXPECT_THROW(future.get(milliseconds{0}), TimeoutException);
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_TRUE(future.wait(milliseconds{0}));
  EXPECT_EQ(future.get(milliseconds{0}).number, 7);
}

TEST_F(FutureTest, StatusFollowsTheTask) {
  const auto future = submit();
  EXPECT_EQ(future.status(), TaskStatus::pending);
  const Lease lease = start(future.id());
  EXPECT_EQ(future.status(), TaskStatus::running);
  const Settlement settlement{lease, Retried{card_refused(), hours{1}}};
  other_process->queue().settle({&settlement, 1});
  EXPECT_EQ(future.status(), TaskStatus::retrying);
}

TEST_F(FutureTest, ProgressIsWhatTheHandlerReportedLast) {
  const auto future = submit();
  EXPECT_EQ(future.progress(), std::nullopt);
  const ProgressReport report{start(future.id()), Progress{3, 10, "third page"}};
  other_process->queue().report_progress({&report, 1});
  EXPECT_EQ(future.progress(), (Progress{3, 10, "third page"}));
}

TEST_F(FutureTest, CancelOfAWaitingTaskCancelsIt) {
  const auto future = submit();
  auto got = waiting_get(future);
  EXPECT_EQ(future.cancel(), CancelStatus::cancelled);
  EXPECT_THROW(got.get(), TaskCancelledException);
  EXPECT_EQ(future.status(), TaskStatus::cancelled);
  EXPECT_EQ(future.cancel(), CancelStatus::already_final);
}

TEST_F(FutureTest, CancelOfARunningTaskAsksIt) {
  const auto future = submit();
  const Lease lease = start(future.id());
  EXPECT_EQ(future.cancel(), CancelStatus::requested);
  EXPECT_TRUE(other_process->queue().extend({&lease, 1}, hours{1}).front().cancel_requested);
  EXPECT_EQ(future.status(), TaskStatus::running);
}

TEST_F(FutureTest, ACancelledTaskThrowsThatWithItsId) {
  const auto future = submit();
  finish(future.id(), CancelHonoured{});
  try {
    static_cast<void>(future.get());
    FAIL() << "must throw";
  } catch (const TaskCancelledException& error) {
    EXPECT_EQ(error.id(), future.id());
  }
}

TEST_F(FutureTest, AFailedTaskThrowsAllThatIsKnownOfItsError) {
  const auto future = submit();
  finish(future.id(), Failed{card_refused()});
  try {
    static_cast<void>(future.get());
    FAIL() << "must throw";
  } catch (const TaskFailedException& error) {
    EXPECT_EQ(error.id(), future.id());
    EXPECT_EQ(error.data(), card_refused());
    EXPECT_STREQ(error.what(), "shop::CardRefused: no money");
  }
}

TEST_F(FutureTest, AFailedTaskThrowsItsOwnTypeWhereThatIsRegistered) {
  exceptions.add<shop::CardRefused>();
  const auto future = submit();
  finish(future.id(), Failed{card_refused()});
  try {
    static_cast<void>(future.get());
    FAIL() << "must throw";
  } catch (const shop::CardRefused& error) {
    EXPECT_STREQ(error.what(), "no money");
    try {
      std::rethrow_if_nested(error);
      FAIL() << "must have the failure nested";
    } catch (const TaskFailedException& failure) {
      EXPECT_EQ(failure.id(), future.id());
      EXPECT_EQ(failure.data(), card_refused());
    }
  }
}

TEST_F(FutureTest, AResultOfAnotherTypeIsAValidationError) {
  const auto future = submit();
  finish(future.id(), Completed{R"({"number":"seven"})"});
  try {
    static_cast<void>(future.get());
    FAIL() << "must throw";
  } catch (const ValidationException& error) {
    EXPECT_THAT(error.what(), HasSubstr("number: expected"));
  }
  EXPECT_NO_THROW(static_cast<void>(future.get_json())) << "the result itself is there";
}

TEST_F(FutureTest, AnUnknownTaskIsSaidToBe) {
  const TaskId id = TaskId::generate();
  const TaskFuture<shop::Receipt> future = tasks.find<shop::Receipt>(id);
  const auto expect_unknown = [&](const auto& ask) {
    try {
      ask();
      ADD_FAILURE() << "must throw";
    } catch (const TaskExpiredException&) {
      ADD_FAILURE() << "it never was there";
    } catch (const TaskNotFoundException& error) {
      EXPECT_EQ(error.id(), id);
    }
  };
  expect_unknown([&] { static_cast<void>(future.get()); });
  expect_unknown([&] { static_cast<void>(future.wait()); });
  expect_unknown([&] { static_cast<void>(future.status()); });
  expect_unknown([&] { static_cast<void>(future.progress()); });
  expect_unknown([&] { static_cast<void>(future.cancel()); });
}

TEST_F(FutureTest, AnExpiredTaskIsSaidToBe) {
  const auto future = submit();
  finish(future.id(), Completed{R"({"number":7})"});
  clock.advance(kDefaultTtl);
  EXPECT_EQ(future.get().number, 7) << "to the last moment";
  clock.advance(milliseconds{1});
  EXPECT_THROW(static_cast<void>(future.get()), TaskExpiredException);
  EXPECT_THROW(static_cast<void>(future.wait()), TaskExpiredException);
  EXPECT_THROW(static_cast<void>(future.status()), TaskExpiredException);
  EXPECT_THROW(static_cast<void>(future.progress()), TaskExpiredException);
}

TEST_F(FutureTest, ATaskRemovedWhileSomebodyWaitsEndsTheWait) {
  const auto future = submit();
  auto got = waiting_get(future);
  other_process->storage().remove(future.id());
  EXPECT_THROW(got.get(), TaskNotFoundException);
}

TEST_F(FutureTest, PassingTroubleOfTheStorageIsWaitedOut) {
  engine.refuse(Call::finished, Retry::helps, 2);
  const auto future = submit();
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(future.get(kPatience).number, 7);
  EXPECT_GE(engine.calls(Call::finished), 3U);
}

TEST_F(FutureTest, LastingTroubleOfTheStorageEndsTheWait) {
  engine.refuse(Call::finished, Retry::useless);
  const auto future = submit();
  EXPECT_THROW(static_cast<void>(future.get(kPatience)), StorageException);
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(future.get(kPatience).number, 7) << "the next wait asks anew";
}

TEST_F(FutureTest, TroubleDoesNotMakeATimeoutLonger) {
  engine.break_down(Call::finished);
  const auto future = submit();
  EXPECT_THROW(static_cast<void>(future.get(milliseconds{1})), TimeoutException);
}

}  // namespace
}  // namespace errand
