#include "errand/tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <type_traits>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/at_once.hpp"

#include "unit/client/client_fixture.hpp"

namespace errand {
namespace {

using testing::Call;
using ::testing::HasSubstr;
using Retry = StorageException::Retry;

class TasksTest : public testing::Client {};

TEST_F(TasksTest, SubmitStoresTheMessageUnderItsName) {
  const TaskHandle task = tasks.submit(shop::SendEmail{"a@b.c"});
  const auto record = engine.catalog().find(task.id());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->type, "email.send");
  EXPECT_EQ(record->data.payload, R"({"to":"a@b.c"})");
  EXPECT_EQ(record->data.status, TaskStatus::pending);
  EXPECT_EQ(record->queue, kDefaultQueue);
}

TEST_F(TasksTest, SubmitOptionsReachTheStorage) {
  using std::chrono::seconds;
  SubmitOptions options;
  options.queue = "mail";
  options.delay = seconds{90};
  options.priority = 7;
  options.retry = RetryPolicy{.max_retries = 9, .delay = seconds{2}};
  options.headers = {{"trace", "t-1"}};
  options.id = TaskId::generate();
  const TaskHandle task = tasks.submit(shop::SendEmail{"a@b.c"}, options);
  EXPECT_EQ(task.id(), options.id);
  const auto record = engine.catalog().find(task.id());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->queue, "mail");
  EXPECT_EQ(record->available_at, clock.now() + seconds{90});
  EXPECT_EQ(record->priority, 7);
  EXPECT_EQ(record->retry, options.retry);
  EXPECT_EQ(record->headers, options.headers);
}

TEST_F(TasksTest, AMessageThatNamesItsResultGivesThatFuture) {
  static_assert(std::is_same_v<decltype(tasks.submit(shop::Charge{})), TaskFuture<shop::Receipt>>);
  static_assert(std::is_same_v<decltype(tasks.submit(shop::SendEmail{})), TaskHandle>);
  const auto future = tasks.submit(shop::Charge{500});
  finish(future.id(), Completed{R"({"number":7})"});
  EXPECT_EQ(future.get().number, 7);
}

TEST_F(TasksTest, AHandleConvertsToTheFutureWanted) {
  const TaskFuture<shop::Receipt> future = tasks.submit(shop::SendEmail{"a@b.c"});
  finish(future.id(), Completed{R"({"number":8})"});
  EXPECT_EQ(future.get().number, 8);
}

TEST_F(TasksTest, AMessageWithoutANameIsRefused) {
  // Nobody gave Receipt a name: it is a result here, never a message.
  EXPECT_THROW(tasks.submit(shop::Receipt{}), ConfigurationException);
  EXPECT_THROW(tasks.submit_all(std::vector<shop::Receipt>(2)), ConfigurationException);
  EXPECT_EQ(stored_tasks(), 0);
}

TEST_F(TasksTest, WhatIsNotValidIsRefusedBeforeItReachesTheStorage) {
  SubmitOptions options;
  options.queue = "";
  EXPECT_THROW(tasks.submit(shop::SendEmail{"a@b.c"}, options), ValidationException);
  EXPECT_EQ(engine.calls(Call::submit), 0U) << "a bad task must not fail the batch it is in";
}

TEST_F(TasksTest, SubmitAllStoresAllInOneTransactionAndReturnsThemInOrder) {
  const auto futures =
      tasks.submit_all(std::vector{shop::Charge{1}, shop::Charge{2}, shop::Charge{3}});
  ASSERT_EQ(futures.size(), 3U);
  EXPECT_EQ(engine.calls(Call::submit), 1U);
  for (std::size_t i = 0; i < futures.size(); ++i) {
    const auto record = engine.catalog().find(futures[i].id());
    ASSERT_TRUE(record);
    EXPECT_EQ(record->data.payload, R"({"cents":)" + std::to_string(i + 1) + "}");
  }
}

TEST_F(TasksTest, SubmitAllOfNothingTouchesNothing) {
  EXPECT_TRUE(tasks.submit_all(std::vector<shop::Charge>{}).empty());
  EXPECT_EQ(stored_tasks(), 0);
}

TEST_F(TasksTest, SubmitAllStoresNoneIfOneIsBad) {
  SubmitOptions options;
  options.queue = "";
  EXPECT_THROW(tasks.submit_all(std::vector<shop::Charge>(3), options), ValidationException);
  EXPECT_EQ(stored_tasks(), 0);
}

TEST_F(TasksTest, SubmitAllRefusesOneIdForMany) {
  SubmitOptions options;
  options.id = TaskId::generate();
  try {
    tasks.submit_all(std::vector<shop::Charge>(2), options);
    FAIL() << "must throw";
  } catch (const ValidationException& error) {
    EXPECT_THAT(error.what(), HasSubstr("SubmitOptions::id"));
  }
  EXPECT_EQ(stored_tasks(), 0);
}

TEST_F(TasksTest, TheSameIdSubmittedTwiceIsStoredOnce) {
  SubmitOptions options;
  options.id = TaskId::generate();
  tasks.submit(shop::Charge{1}, options);
  const auto again = tasks.submit(shop::Charge{2}, options);
  EXPECT_EQ(stored_tasks(), 1);
  EXPECT_EQ(engine.catalog().find(again.id())->data.payload, R"({"cents":1})");
}

TEST_F(TasksTest, ASubmitInDoubtCanBeRepeatedUnderItsId) {
  SubmitOptions options;
  options.id = TaskId::generate();
  engine.lose_reply(Call::submit);
  try {
    tasks.submit(shop::Charge{1}, options);
    FAIL() << "must throw";
  } catch (const StorageException& error) {
    EXPECT_EQ(error.retry(), Retry::in_doubt);
  }
  const auto future = tasks.submit(shop::Charge{1}, options);
  EXPECT_EQ(stored_tasks(), 1);
  EXPECT_EQ(future.status(), TaskStatus::pending);
}

TEST_F(TasksTest, ASubmitThatTheStorageRefusedStoresNothing) {
  engine.refuse(Call::submit);
  EXPECT_THROW(tasks.submit(shop::Charge{1}), StorageException);
  EXPECT_EQ(stored_tasks(), 0);
  tasks.submit(shop::Charge{1});
  EXPECT_EQ(stored_tasks(), 1);
}

TEST_F(TasksTest, ManyThreadsSubmitWithoutLosingATask) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kEach = 50;
  std::vector<std::set<TaskId>> ids(kThreads);
  testing::at_once(kThreads, [&](std::size_t thread) {
    for (std::size_t i = 0; i < kEach; ++i) {
      const TaskId id = tasks.submit(shop::Charge{1}).id();
      ids[thread].insert(id);
      // Durable on return: another process sees it.
      EXPECT_TRUE(other_process->catalog().find(id));
    }
  });
  std::set<TaskId> all;
  for (const auto& some : ids) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
  EXPECT_EQ(stored_tasks(), static_cast<std::int64_t>(kThreads * kEach));
}

TEST_F(TasksTest, SubmitJsonTakesJsonAndNothingElse) {
  const TaskHandle task = tasks.submit_json("report.make", R"({"year":2025})");
  EXPECT_EQ(engine.catalog().find(task.id())->data.payload, R"({"year":2025})");
  EXPECT_EQ(engine.catalog().find(task.id())->type, "report.make");
  EXPECT_THROW(tasks.submit_json("report.make", "{year:2025}"), ValidationException);
  EXPECT_EQ(stored_tasks(), 1);
}

TEST_F(TasksTest, FindAsksTheStorageForNothing) {
  const TaskFuture<shop::Receipt> future = tasks.find<shop::Receipt>(TaskId::generate());
  EXPECT_EQ(engine.calls(Call::finished), 0U);
  EXPECT_THROW(static_cast<void>(future.status()), TaskNotFoundException);
}

TEST_F(TasksTest, AnotherProcessFindsTheResultByItsId) {
  const auto submitted = tasks.submit(shop::Charge{1});
  finish(submitted.id(), Completed{R"({"number":9})"});
  Tasks elsewhere{*other_process, messages, exceptions};
  EXPECT_EQ(elsewhere.find<shop::Receipt>(submitted.id()).get().number, 9);
}

}  // namespace
}  // namespace errand
