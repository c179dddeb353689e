#include "errand/async_get.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "errand/errors.hpp"
#include "errand/tasks.hpp"

#include "support/milestone.hpp"
#include "unit/client/client_fixture.hpp"

namespace errand {
namespace {

namespace asio = boost::asio;
using testing::Call;
using testing::kPatience;
using testing::Milestone;

ExceptionData failure() {
  ExceptionData error;
  error.class_name = "std::domain_error";
  error.message = "out of range";
  return error;
}

class AsyncGetTest : public testing::Client {
 protected:
  TaskFuture<shop::Receipt> submit() { return tasks.submit(shop::Charge{1}); }
};

template <class T>
T take(std::future<T>& future) {
  if (future.wait_for(kPatience) != std::future_status::ready) {
    throw std::logic_error{"async_get() did not end"};
  }
  return future.get();
}

TEST_F(AsyncGetTest, GivesAStdFutureTheResult) {
  const auto task = submit();
  std::future<shop::Receipt> got = task.async_get(asio::use_future);
  ASSERT_TRUE(engine.was_called(Call::finished)) << "it must ask by itself";
  finish(task.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(take(got).number, 7);
}

TEST_F(AsyncGetTest, GivesAStdFutureTheError) {
  exceptions.add<std::domain_error>();
  const auto failed = submit();
  const auto cancelled = submit();
  const auto wrong = submit();
  std::future<shop::Receipt> of_failed = failed.async_get(asio::use_future);
  std::future<shop::Receipt> of_cancelled = cancelled.async_get(asio::use_future);
  std::future<shop::Receipt> of_wrong = wrong.async_get(asio::use_future);
  std::future<shop::Receipt> of_unknown =
      tasks.find<shop::Receipt>(TaskId::generate()).async_get(asio::use_future);
  finish(failed.id(), Failed{failure()});
  finish(cancelled.id(), CancelHonoured{});
  finish(wrong.id(), Completed{"[]"});
  EXPECT_THROW(take(of_failed), std::domain_error);
  EXPECT_THROW(take(of_cancelled), TaskCancelledException);
  EXPECT_THROW(take(of_wrong), ValidationException);
  EXPECT_THROW(take(of_unknown), TaskNotFoundException);
}

TEST_F(AsyncGetTest, CancellingItEndsTheWaitingAndNotTheTask) {
  asio::io_context context;
  asio::cancellation_signal cancel;
  const auto task = submit();
  std::exception_ptr got;
  int calls = 0;
  task.async_get(asio::bind_cancellation_slot(
      cancel.slot(),
      asio::bind_executor(context, [&](const std::exception_ptr& error, shop::Receipt) {
        got = error;
        ++calls;
      })));
  cancel.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(calls, 1);
  try {
    std::rethrow_exception(got);
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::operation_aborted);
  }
  finish(task.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(task.get().number, 7);
  EXPECT_EQ(calls, 1);
}

TEST_F(AsyncGetTest, ACancellationThatComesTooLateChangesNothing) {
  asio::io_context context;
  asio::cancellation_signal cancel;
  const auto task = submit();
  finish(task.id(), Completed{R"({"number":7})"});
  int number = 0;
  task.async_get(asio::bind_cancellation_slot(
      cancel.slot(),
      asio::bind_executor(context, [&](const std::exception_ptr&, shop::Receipt receipt) {
        number = receipt.number;
      })));
  context.run();
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(number, 7);
}

TEST_F(AsyncGetTest, OfVoidTellsOnlyWhetherItFailed) {
  const TaskFuture<void> good = submit();
  const TaskFuture<void> bad = submit();
  std::future<void> of_good = good.async_get(asio::use_future);
  std::future<void> of_bad = bad.async_get(asio::use_future);
  finish(good.id(), Completed{R"({"number":7})"});
  finish(bad.id(), Failed{failure()});
  EXPECT_NO_THROW(take(of_good));
  EXPECT_THROW(take(of_bad), TaskFailedException);
}

TEST_F(AsyncGetTest, TakesTheValueOfTypesThatAreNotStructs) {
  const TaskFuture<std::string> task = submit();
  std::future<std::string> got = task.async_get(asio::use_future);
  finish(task.id(), Completed{R"("done")"});
  EXPECT_EQ(take(got), "done");
}

TEST_F(AsyncGetTest, CallsTheHandlerOnItsExecutor) {
  asio::io_context io;
  const auto task = submit();
  finish(task.id(), Completed{R"({"number":7})"});
  std::optional<std::thread::id> called_on;
  int number = 0;
  task.async_get(
      asio::bind_executor(io, [&](const std::exception_ptr& error, const shop::Receipt& receipt) {
        called_on = std::this_thread::get_id();
        if (!error) number = receipt.number;
      }));
  ASSERT_TRUE(engine.was_called(Call::finished));
  EXPECT_FALSE(called_on) << "nobody runs its executor yet";
  // Returns when the handler has run: a wait under way counts as work.
  io.run_for(kPatience);
  EXPECT_EQ(called_on, std::this_thread::get_id());
  EXPECT_EQ(number, 7);
}

TEST_F(AsyncGetTest, TakesHandlersThatCannotBeCopied) {
  const auto task = submit();
  finish(task.id(), Completed{R"({"number":7})"});
  Milestone called;
  task.async_get([&called, only = std::make_unique<int>(1)](const std::exception_ptr& error,
                                                            const shop::Receipt&) {
    if (!error && *only == 1) called.reach();
  });
  EXPECT_TRUE(called.was_reached());
}

asio::awaitable<int> sum_of(TaskFuture<shop::Receipt> first, TaskFuture<shop::Receipt> second) {
  const shop::Receipt one = co_await first.async_get(asio::use_awaitable);
  const shop::Receipt other = co_await second.async_get(asio::use_awaitable);
  co_return one.number + other.number;
}

asio::awaitable<std::string> outcome_of(TaskFuture<void> task) {
  try {
    co_await task.async_get(asio::use_awaitable);
  } catch (const TaskFailedException& error) {
    co_return error.data().message;
  }
  co_return "fine";
}

TEST_F(AsyncGetTest, CanBeAwaitedByACoroutine) {
  asio::io_context io;
  const auto first = submit();
  const auto second = submit();
  std::future<int> sum = asio::co_spawn(io, sum_of(first, second), asio::use_future);
  std::jthread runner{[&] { io.run(); }};
  finish(second.id(), Completed{R"({"number":3})"});
  finish(first.id(), Completed{R"({"number":4})"});
  EXPECT_EQ(take(sum), 7);
}

TEST_F(AsyncGetTest, ThrowsInACoroutineThatAwaitsAFailedTask) {
  asio::io_context io;
  const TaskFuture<void> bad = submit();
  const TaskFuture<void> good = submit();
  std::future<std::string> of_bad = asio::co_spawn(io, outcome_of(bad), asio::use_future);
  std::future<std::string> of_good = asio::co_spawn(io, outcome_of(good), asio::use_future);
  std::jthread runner{[&] { io.run(); }};
  finish(bad.id(), Failed{failure()});
  finish(good.id(), Completed{"null"});
  EXPECT_EQ(take(of_bad), "out of range");
  EXPECT_EQ(take(of_good), "fine");
}

TEST_F(AsyncGetTest, TellsThoseStillWaitingThatTheClientEnds) {
  std::future<shop::Receipt> got;
  {
    Tasks short_lived{engine, messages, exceptions, kSignalsOnly};
    got = short_lived.submit(shop::Charge{1}).async_get(asio::use_future);
  }
  EXPECT_THROW(take(got), Error);
}

}  // namespace
}  // namespace errand
