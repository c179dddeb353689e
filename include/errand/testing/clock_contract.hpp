#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// A clock that is set back must not lose tasks, nor leave records that end before they began.
class ClockContract : public EngineContract {
 protected:
  static constexpr std::chrono::hours kStep{6};

  void set_clock_back() { pass(-kStep); }

  /// Due times from before the step may lie ahead now; it is enough if the clock catches up.
  Claim claim_in_the_end() {
    std::vector<Claim> claims = claim(1);
    if (claims.empty()) {
      pass(kStep);
      claims = claim(1);
    }
    if (claims.size() != 1) throw std::runtime_error{"the task was not claimed in the end"};
    return std::move(claims.front());
  }

  void expect_valid(TaskId id) {
    EXPECT_NO_THROW(validate(record(id).data));
    EXPECT_NO_THROW(static_cast<void>(storage().load(id)));
  }
};

TEST_P(ClockContract, ATaskSubmittedBeforeTheStepIsClaimedAtTheLatestWhenTheClockHasCaughtUp) {
  const TaskId id = submit();
  set_clock_back();
  const Claim claim = claim_in_the_end();
  expect_valid(id);
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
  expect_valid(id);
}

TEST_P(ClockContract, EveryOutcomeSettlesAfterAStepBack) {
  const ExceptionData error = error_named("E");
  const std::vector<Outcome> outcomes{Completed{"1"}, Failed{error}, Retried{error, {}},
                                      CancelHonoured{}, Released{}};
  for (const Outcome& outcome : outcomes) {
    const Claim claim = submit_and_claim();
    set_clock_back();
    EXPECT_EQ(settle(claim.lease, outcome), SettleStatus::settled) << outcome.index();
    expect_valid(claim.lease.id);
    storage().remove(claim.lease.id);
    pass(kStep);
  }
}

TEST_P(ClockContract, ATaskCanBeCancelledAfterAStepBack) {
  const TaskId id = submit();
  set_clock_back();
  EXPECT_EQ(cancel(id), CancelStatus::cancelled);
  expect_valid(id);
}

TEST_P(ClockContract, ATaskCanRunAgainAfterAStepBack) {
  const TaskId id = task_in(TaskStatus::failed);
  set_clock_back();
  EXPECT_EQ(queue().requeue({&id, 1}), 1U);
  expect_valid(id);
  const Claim claim = claim_in_the_end();
  expect_valid(id);
  set_clock_back();
  EXPECT_EQ(settle(claim.lease, Retried{error_named("E"), {}}), SettleStatus::settled);
  expect_valid(id);
  EXPECT_EQ(settle(claim_in_the_end().lease, Completed{"1"}), SettleStatus::settled);
  expect_valid(id);
}

TEST_P(ClockContract, ALeaseFromBeforeTheStepCanBeExtendedAndRescued) {
  const Claim claim = submit_and_claim();
  set_clock_back();
  EXPECT_FALSE(extend(claim.lease).lost);
  pass(kLease + kInstant);
  EXPECT_EQ(rescue().size(), 1U);
  expect_valid(claim.lease.id);
}

TEST_P(ClockContract, MovingARecordAfterAStepBackLeavesItValid) {
  for (const TaskStatus to : {TaskStatus::running, TaskStatus::cancelled}) {
    const TaskData task = TaskData::pending(TaskId::generate(), "{}", now());
    storage().save(task);
    set_clock_back();
    try {
      storage().update_status(task.id, to);
    } catch (const ValidationException&) {
      EXPECT_EQ(status(task.id), TaskStatus::pending);
    }
    expect_valid(task.id);
  }
}

TEST_P(ClockContract, WorkersBeatAfterAStepBack) {
  WorkerInfo worker;
  worker.worker = "worker-1";
  workers().beat(worker, std::chrono::hours{1});
  set_clock_back();
  EXPECT_NO_THROW(workers().beat(worker, std::chrono::hours{1}));
  EXPECT_EQ(workers().workers().size(), 1U);
}

}  // namespace errand::testing
