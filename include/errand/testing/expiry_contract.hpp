#pragma once

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <vector>

#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// What is left of a task once it is final: its outcome until the TTL, and then that it was there.
class ExpiryContract : public EngineContract {
 protected:
  [[nodiscard]] std::map<TaskId, Finish> finished(const std::vector<TaskId>& ids) {
    std::map<TaskId, Finish> by_id;
    for (Finish& finish : queue().finished(ids)) {
      const TaskId id = finish.id;
      if (!by_id.emplace(id, std::move(finish)).second) {
        throw std::runtime_error{"two answers for " + id.to_string()};
      }
    }
    return by_id;
  }
};

TEST_P(ExpiryContract, AFinishedTaskIsThereUntilTheTtlHasPassed) {
  const TaskId id = task_in(TaskStatus::completed);
  pass(kDefaultTtl - drift());
  EXPECT_NE(storage().load(id), std::nullopt);
  EXPECT_FALSE(record(id).expired);
  ASSERT_EQ(finished({id}).size(), 1U);
  EXPECT_EQ(finished({id}).at(id).kind, Finish::Kind::finished);
}

TEST_P(ExpiryContract, AnExpiredTaskIsNotLoadedAlthoughItIsStillStored) {
  for (const TaskStatus status :
       {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled}) {
    const TaskId id = task_in(status);
    pass(kDefaultTtl + kInstant);
    EXPECT_EQ(storage().load(id), std::nullopt) << to_string(status);
    EXPECT_TRUE(record(id).expired) << to_string(status);
    EXPECT_EQ(record(id).data.status, status);
  }
}

TEST_P(ExpiryContract, OpenTasksDoNotExpire) {
  std::vector<TaskId> ids;
  for (const TaskStatus status : {TaskStatus::running, TaskStatus::retrying, TaskStatus::pending}) {
    ids.push_back(task_in(status));
  }
  pass(100 * kDefaultTtl);
  for (const TaskId id : ids) {
    EXPECT_NE(storage().load(id), std::nullopt);
    EXPECT_FALSE(record(id).expired);
  }
  EXPECT_TRUE(finished(ids).empty());
}

TEST_P(ExpiryContract, ExpiredTasksAreListedUntilTheyAreDeleted) {
  const TaskId id = task_in(TaskStatus::completed);
  pass(kDefaultTtl + kInstant);
  const TaskPage page = catalog().list({}, {});
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_TRUE(page.items.front().expired);

  EXPECT_EQ(storage().delete_expired_tasks(now() - kDefaultTtl), 1U);
  EXPECT_EQ(catalog().find(id), std::nullopt);
  EXPECT_EQ(finished({id}).at(id).kind, Finish::Kind::unknown);
}

TEST_P(ExpiryContract, FinishedExpiredUnknownAndOpenTasksAreToldApart) {
  const TaskId expired = task_in(TaskStatus::completed);
  pass(kDefaultTtl + kInstant);
  const TaskId completed = task_in(TaskStatus::completed);
  const TaskId failed = task_in(TaskStatus::failed);
  const TaskId cancelled = task_in(TaskStatus::cancelled);
  const TaskId unknown = TaskId::generate();
  const TaskId running = task_in(TaskStatus::running);
  const TaskId retrying = task_in(TaskStatus::retrying);
  const TaskId pending = task_in(TaskStatus::pending);

  const std::map<TaskId, Finish> answers =
      finished({pending, expired, running, completed, unknown, retrying, failed, cancelled});
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers.at(expired).kind, Finish::Kind::expired);
  EXPECT_EQ(answers.at(unknown).kind, Finish::Kind::unknown);

  EXPECT_EQ(answers.at(completed).kind, Finish::Kind::finished);
  EXPECT_EQ(answers.at(completed).status, TaskStatus::completed);
  EXPECT_EQ(answers.at(completed).result, R"({"ok":true})");
  EXPECT_EQ(answers.at(completed).error, std::nullopt);

  EXPECT_EQ(answers.at(failed).kind, Finish::Kind::finished);
  EXPECT_EQ(answers.at(failed).status, TaskStatus::failed);
  EXPECT_EQ(answers.at(failed).result, std::nullopt);
  ASSERT_TRUE(answers.at(failed).error.has_value());
  EXPECT_EQ(parse_exception_data(*answers.at(failed).error), error_named("std::runtime_error"));

  EXPECT_EQ(answers.at(cancelled).kind, Finish::Kind::finished);
  EXPECT_EQ(answers.at(cancelled).status, TaskStatus::cancelled);
  EXPECT_EQ(answers.at(cancelled).result, std::nullopt);
  EXPECT_EQ(answers.at(cancelled).error, std::nullopt);
}

TEST_P(ExpiryContract, ThousandsOfTasksCanBeAskedForAtOnce) {
  const std::vector<TaskId> open = submit_many(scaled(5000));
  std::vector<TaskId> final_ones{open.begin(), open.begin() + 10};
  queue().cancel(final_ones);
  std::vector<TaskId> asked = open;
  asked.push_back(TaskId::generate());
  EXPECT_EQ(finished(asked).size(), final_ones.size() + 1);
}

TEST_P(ExpiryContract, RecordsThatWereNeverQueuedFinishToo) {
  const TaskData task = record_in(TaskStatus::completed, now());
  storage().save(task);
  EXPECT_EQ(finished({task.id}).at(task.id).result, task.result);
}

TEST_P(ExpiryContract, AskingForNothingGivesNothing) { EXPECT_TRUE(queue().finished({}).empty()); }

TEST_P(ExpiryContract, SubmittingTheIdOfAFinishedTaskAgainChangesNothing) {
  const NewTask task = new_task();
  task_in(TaskStatus::completed, task);
  const TaskData before = record(task.id).data;
  submit(task);
  EXPECT_EQ(record(task.id).data, before);

  pass(kDefaultTtl + kInstant);
  submit(task);
  EXPECT_TRUE(record(task.id).expired);
  EXPECT_EQ(record(task.id).data.version, before.version);
  EXPECT_TRUE(claim(10).empty());
}

}  // namespace errand::testing
