#pragma once

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/errors.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// TaskQueue::adopt(): records that another program saved become tasks.
class AdoptContract : public EngineContract {
 protected:
  void adopt(const NewTask& task) { queue().adopt({&task, 1}); }

  TaskId saved(TaskStatus status) {
    const TaskData data = record_in(status, now());
    storage().save(data);
    return data.id;
  }

  static NewTask task_of(TaskId id) {
    NewTask task = new_task("mail", 3);
    task.id = id;
    task.envelope = Envelope{"email.send", R"({"to":"a@b.c"})", {{"tenant", "42"}}};
    task.retry.max_retries = 7;
    return task;
  }
};

TEST_P(AdoptContract, AWaitingRecordJoinsAQueue) {
  const TaskId id = saved(TaskStatus::pending);
  const TaskData before = record(id).data;
  adopt(task_of(id));
  const Claim claim = claim_one("mail");
  EXPECT_EQ(claim.lease.id, id);
  EXPECT_EQ(claim.envelope.type(), "email.send");
  EXPECT_EQ(claim.envelope.body(), R"({"to":"a@b.c"})");
  EXPECT_EQ(claim.envelope.headers(), (Headers{{"tenant", "42"}}));
  EXPECT_EQ(claim.priority, 3);
  EXPECT_EQ(claim.retry.max_retries, 7);
  EXPECT_EQ(claim.submitted_at, before.submitted_at);
  EXPECT_EQ(settle(claim.lease, Completed{"42"}), SettleStatus::settled);
  const auto after = storage().load(id);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->status, TaskStatus::completed);
  EXPECT_EQ(after->result, "42");
}

TEST_P(AdoptContract, ANewTaskIsSubmitted) {
  const NewTask task = task_of(TaskId::generate());
  adopt(task);
  EXPECT_EQ(claim_one("mail").lease.id, task.id);
}

TEST_P(AdoptContract, AdoptingTwiceChangesNothing) {
  const TaskId id = saved(TaskStatus::pending);
  adopt(task_of(id));
  const TaskData before = record(id).data;
  NewTask again = task_of(id);
  again.queue = "other";
  adopt(again);
  EXPECT_EQ(record(id).data, before);
  EXPECT_EQ(claim(10, {"mail", "other"}).size(), 1U);
}

TEST_P(AdoptContract, OtherRecordsAreLeftAsTheyAre) {
  for (const TaskStatus status :
       {TaskStatus::running, TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled}) {
    const TaskId id = saved(status);
    const TaskData before = record(id).data;
    adopt(task_of(id));
    EXPECT_EQ(record(id).data, before) << to_string(status);
  }
  const TaskId queued = submit();
  const TaskData before = record(queued).data;
  adopt(task_of(queued));
  EXPECT_EQ(record(queued).data, before);
  EXPECT_TRUE(claim(10, {"mail"}).empty());
}

TEST_P(AdoptContract, ManyAtOnceWithADoubleAmongThem) {
  const TaskId known = saved(TaskStatus::pending);
  const std::array tasks{task_of(known), task_of(TaskId::generate()), task_of(known)};
  queue().adopt(tasks);
  EXPECT_EQ(claim(10, {"mail"}).size(), 2U);
}

TEST_P(AdoptContract, ABadTaskStoresNone) {
  std::array tasks{task_of(TaskId::generate()), task_of(TaskId::generate())};
  tasks[1].queue = "";
  EXPECT_THROW(queue().adopt(tasks), ValidationException);
  EXPECT_TRUE(claim(10, {"mail"}).empty());
}

TEST_P(AdoptContract, ADelayedTaskWaits) {
  NewTask task = task_of(saved(TaskStatus::pending));
  task.delay = std::chrono::hours{1};
  adopt(task);
  EXPECT_TRUE(claim(1, {"mail"}).empty());
  pass(std::chrono::hours{1} + std::chrono::seconds{1});
  EXPECT_EQ(claim_one("mail").lease.id, task.id);
}

}  // namespace errand::testing
