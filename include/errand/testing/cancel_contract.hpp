#pragma once

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// Cancelling: at once while a task waits, by asking while it runs.
class CancelContract : public EngineContract {
 protected:
  Claim asked_to_stop() {
    Claim claim = submit_and_claim();
    if (cancel(claim.lease.id) != CancelStatus::requested) {
      throw std::runtime_error{"a running task was not asked to stop"};
    }
    return claim;
  }
};

TEST_P(CancelContract, AWaitingTaskIsCancelledAtOnce) {
  for (const TaskStatus waiting : {TaskStatus::retrying, TaskStatus::pending}) {
    const TaskId id = task_in(waiting);
    const std::int64_t before = version(id);
    pass(std::chrono::minutes{30});
    EXPECT_EQ(cancel(id), CancelStatus::cancelled) << to_string(waiting);
    const TaskData after = record(id).data;
    EXPECT_EQ(after.status, TaskStatus::cancelled);
    EXPECT_EQ(after.version, before + 1);
    EXPECT_TRUE(is_about(after.completed_at, now()));
    EXPECT_NO_THROW(validate(after));
    pass(std::chrono::hours{2});
    EXPECT_TRUE(claim(10).empty());
  }
}

TEST_P(CancelContract, ARunningTaskIsAskedToStop) {
  const Claim claim = submit_and_claim();
  EXPECT_EQ(cancel(claim.lease.id), CancelStatus::requested);
  EXPECT_EQ(cancel(claim.lease.id), CancelStatus::requested);
  EXPECT_TRUE(record(claim.lease.id).cancel_requested);
  EXPECT_EQ(status(claim.lease.id), TaskStatus::running);
  EXPECT_EQ(version(claim.lease.id), claim.lease.version);
  const LeaseState state = extend(claim.lease);
  EXPECT_FALSE(state.lost);
  EXPECT_TRUE(state.cancel_requested);
}

TEST_P(CancelContract, AFinalTaskIsLeftAsItIs) {
  for (const TaskStatus final_status :
       {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled}) {
    const TaskId id = task_in(final_status);
    const TaskData before = record(id).data;
    EXPECT_EQ(cancel(id), CancelStatus::already_final) << to_string(final_status);
    EXPECT_EQ(record(id).data, before);
  }
}

TEST_P(CancelContract, AnUnknownTaskIsNotFound) {
  EXPECT_EQ(cancel(TaskId::generate()), CancelStatus::not_found);
  EXPECT_EQ(task_count(), 0);
}

TEST_P(CancelContract, ABatchHasOneStatusEachInOrder) {
  const TaskId completed = task_in(TaskStatus::completed);
  const TaskId running = task_in(TaskStatus::running);
  const TaskId retrying = task_in(TaskStatus::retrying);
  const TaskId pending = task_in(TaskStatus::pending);
  const std::vector<TaskId> ids{running, TaskId::generate(), pending, completed, retrying, pending};
  using S = CancelStatus;
  EXPECT_THAT(queue().cancel(ids),
              ::testing::ElementsAre(S::requested, S::not_found, S::cancelled, S::already_final,
                                     S::cancelled, S::already_final));
}

TEST_P(CancelContract, ATaskAskedToStopIsCancelledInsteadOfRetried) {
  const Claim retried = asked_to_stop();
  EXPECT_EQ(settle(retried.lease, Retried{error_named("E"), {}}), SettleStatus::settled);
  EXPECT_EQ(status(retried.lease.id), TaskStatus::cancelled);
  EXPECT_NO_THROW(validate(record(retried.lease.id).data));

  const Claim released = asked_to_stop();
  EXPECT_EQ(settle(released.lease, Released{}), SettleStatus::settled);
  EXPECT_EQ(status(released.lease.id), TaskStatus::cancelled);
  EXPECT_NO_THROW(validate(record(released.lease.id).data));
  EXPECT_TRUE(claim(10).empty());
}

TEST_P(CancelContract, ATaskAskedToStopMayStillCompleteOrFail) {
  const Claim completed = asked_to_stop();
  EXPECT_EQ(settle(completed.lease, Completed{"1"}), SettleStatus::settled);
  EXPECT_EQ(status(completed.lease.id), TaskStatus::completed);

  const Claim failed = asked_to_stop();
  EXPECT_EQ(settle(failed.lease, Failed{error_named("E")}), SettleStatus::settled);
  EXPECT_EQ(status(failed.lease.id), TaskStatus::failed);
}

TEST_P(CancelContract, AnAttemptMayEndCancelledWithoutBeingAsked) {
  const Claim claim = submit_and_claim();
  EXPECT_EQ(settle(claim.lease, CancelHonoured{}), SettleStatus::settled);
  EXPECT_EQ(status(claim.lease.id), TaskStatus::cancelled);
}

TEST_P(CancelContract, ADelayedTaskCanBeCancelled) {
  const TaskId id = submit(new_task(kDefaultQueue, 0, std::chrono::hours{5}));
  EXPECT_EQ(cancel(id), CancelStatus::cancelled);
  pass(std::chrono::hours{6});
  EXPECT_TRUE(claim(10).empty());
}

}  // namespace errand::testing
