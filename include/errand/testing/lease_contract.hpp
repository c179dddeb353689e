#pragma once

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// Leases and fencing: a worker that is gone loses its tasks, and one that comes back changes
/// nothing that its successor did.
class LeaseContract : public EngineContract {
 protected:
  /// A lease that ran out and was rescued.
  Lease lost_lease() {
    const Claim claim = submit_and_claim();
    pass(kLease + kInstant);
    if (rescue().size() != 1) throw std::runtime_error{"not one task was rescued"};
    return claim.lease;
  }
};

TEST_P(LeaseContract, AnAttemptEndsOnce) {
  const Claim claim = submit_and_claim();
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
  const TaskData before = record(claim.lease.id).data;
  EXPECT_EQ(settle(claim.lease, Completed{"2"}), SettleStatus::lease_lost);
  EXPECT_EQ(settle(claim.lease, Failed{error_named("E")}), SettleStatus::lease_lost);
  EXPECT_EQ(settle(claim.lease, Retried{error_named("E"), {}}), SettleStatus::lease_lost);
  EXPECT_EQ(settle(claim.lease, CancelHonoured{}), SettleStatus::lease_lost);
  EXPECT_EQ(settle(claim.lease, Released{}), SettleStatus::lease_lost);
  EXPECT_EQ(record(claim.lease.id).data, before);
}

TEST_P(LeaseContract, AnAttemptCannotEndBeforeItBegan) {
  const TaskId id = submit();
  const Lease guessed{id, version(id)};
  EXPECT_EQ(settle(guessed, Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_TRUE(extend(guessed).lost);
  EXPECT_EQ(status(id), TaskStatus::pending);
  EXPECT_EQ(claim_one().lease.id, id);
}

TEST_P(LeaseContract, AWorkerThatLostItsLeaseSettlesNothing) {
  const Lease lease = lost_lease();
  const TaskData before = record(lease.id).data;
  EXPECT_EQ(settle(lease, Completed{"late"}), SettleStatus::lease_lost);
  EXPECT_EQ(record(lease.id).data, before);
}

TEST_P(LeaseContract, AWorkerThatLostItsLeaseCannotTouchItsSuccessor) {
  const Lease lost = lost_lease();
  const Claim successor = claim_one();
  ASSERT_EQ(successor.lease.id, lost.id);
  const TaskRecord before = record(lost.id);
  EXPECT_EQ(settle(lost, Failed{error_named("Zombie")}), SettleStatus::lease_lost);
  EXPECT_TRUE(extend(lost, std::chrono::hours{100}).lost);
  EXPECT_EQ(record(lost.id).data, before.data);
  EXPECT_EQ(record(lost.id).lease_expires_at, before.lease_expires_at);
  EXPECT_EQ(settle(successor.lease, Completed{"mine"}), SettleStatus::settled);
  EXPECT_EQ(record(lost.id).data.result, "mine");
}

TEST_P(LeaseContract, ALateSettleThatNobodyOvertookCounts) {
  const Claim claim = submit_and_claim();
  pass(10 * kLease);
  EXPECT_EQ(settle(claim.lease, Completed{"late"}), SettleStatus::settled);
  EXPECT_TRUE(rescue().empty());
  EXPECT_EQ(status(claim.lease.id), TaskStatus::completed);
}

TEST_P(LeaseContract, ALeaseIsLostToWhoeverChangesTheRecord) {
  const Claim saved = submit_and_claim();
  storage().save(record(saved.lease.id).data);
  EXPECT_TRUE(extend(saved.lease).lost);
  EXPECT_EQ(settle(saved.lease, Completed{"1"}), SettleStatus::lease_lost);

  const Claim moved = submit_and_claim();
  storage().update_status(moved.lease.id, TaskStatus::cancelled);
  EXPECT_TRUE(extend(moved.lease).lost);
  EXPECT_EQ(settle(moved.lease, Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(status(moved.lease.id), TaskStatus::cancelled);

  const Claim removed = submit_and_claim();
  storage().remove(removed.lease.id);
  EXPECT_TRUE(extend(removed.lease).lost);
  EXPECT_EQ(settle(removed.lease, Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(catalog().find(removed.lease.id), std::nullopt);
}

TEST_P(LeaseContract, ARunningLeaseIsNotRescued) {
  const Claim claim = submit_and_claim();
  pass(kLease - drift() - kInstant);
  EXPECT_TRUE(rescue().empty());
  EXPECT_EQ(version(claim.lease.id), claim.lease.version);
}

TEST_P(LeaseContract, ARescuedTaskCanBeClaimedAgainWithItsAttemptBack) {
  const Claim first = submit_and_claim(new_task("mail"));
  pass(kLease + kInstant);
  const std::vector<Rescued> rescued = rescue();
  ASSERT_EQ(rescued.size(), 1U);
  EXPECT_EQ(rescued.front().id, first.lease.id);
  EXPECT_EQ(rescued.front().queue, "mail");
  EXPECT_EQ(rescued.front().worker, "worker-1");
  EXPECT_EQ(rescued.front().status, TaskStatus::retrying);

  const TaskRecord waiting = record(first.lease.id);
  EXPECT_EQ(waiting.data.status, TaskStatus::retrying);
  EXPECT_EQ(waiting.data.version, first.lease.version + 1);
  EXPECT_EQ(waiting.attempts, 0);
  EXPECT_EQ(waiting.crashes, 1);
  EXPECT_EQ(waiting.lease_expires_at, std::nullopt);
  EXPECT_NO_THROW(validate(waiting.data));
  ASSERT_EQ(history(first.lease.id).size(), 1U);
  EXPECT_EQ(history(first.lease.id)[0].at("worker").as_string(), "worker-1");

  const Claim second = claim_one("mail");
  EXPECT_EQ(second.lease.id, first.lease.id);
  EXPECT_EQ(second.attempt, 1);
  EXPECT_EQ(second.crashes, 1);
}

TEST_P(LeaseContract, ARescuedTaskKeepsItsPlaceInTheQueue) {
  const Claim first = submit_and_claim();
  const std::optional<Timestamp> due = record(first.lease.id).available_at;
  ASSERT_TRUE(due.has_value());
  const Timestamp::duration due_since = now() - *due;
  pass(kLease + kInstant);
  const TaskId later = submit();
  rescue();
  EXPECT_TRUE(is_about(record(first.lease.id).available_at, now() - due_since - kLease - kInstant));
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(first.lease.id, later));
}

TEST_P(LeaseContract, ARescuedTaskCanStillSucceed) {
  const Lease lost = lost_lease();
  EXPECT_EQ(settle(claim_one().lease, Completed{"1"}), SettleStatus::settled);
  EXPECT_EQ(status(lost.id), TaskStatus::completed);
}

TEST_P(LeaseContract, RescuingTwiceRescuesOnce) {
  lost_lease();
  EXPECT_TRUE(rescue().empty());
}

TEST_P(LeaseContract, RescueTakesNoMoreThanItsLimit) {
  submit_many(5);
  EXPECT_EQ(claim(5).size(), 5U);
  pass(kLease + kInstant);
  EXPECT_EQ(queue().rescue(RescueRequest{2, 3}).size(), 2U);
  EXPECT_EQ(queue().rescue(RescueRequest{2, 3}).size(), 2U);
  EXPECT_EQ(queue().rescue(RescueRequest{2, 3}).size(), 1U);
}

TEST_P(LeaseContract, ATaskThatLosesTooManyWorkersFails) {
  const TaskId id = submit();
  crash_worker_of(id);
  crash_worker_of(id);
  const Claim last = claim_one();
  pass(kLease + kInstant);
  const std::vector<Rescued> rescued = rescue();
  ASSERT_EQ(rescued.size(), 1U);
  EXPECT_EQ(rescued.front().status, TaskStatus::failed);

  const TaskRecord after = record(id);
  EXPECT_EQ(after.data.status, TaskStatus::failed);
  EXPECT_EQ(after.data.version, last.lease.version + 1);
  EXPECT_EQ(after.crashes, 3);
  EXPECT_TRUE(is_about(after.data.completed_at, now()));
  ASSERT_TRUE(after.data.error.has_value());
  EXPECT_EQ(parse_exception_data(*after.data.error).class_name, "errand::WorkerLost");
  EXPECT_FALSE(parse_exception_data(*after.data.error).message.empty());
  EXPECT_EQ(history(id).size(), 3U);
  EXPECT_NO_THROW(validate(after.data));
  EXPECT_TRUE(claim(10).empty());
}

TEST_P(LeaseContract, TheRequestSaysHowManyCrashesAreTooMany) {
  const Claim claim = submit_and_claim();
  pass(kLease + kInstant);
  ASSERT_EQ(rescue(1).size(), 1U);
  EXPECT_EQ(status(claim.lease.id), TaskStatus::failed);

  const TaskId patient = submit();
  for (int crash = 1; crash <= 4; ++crash) {
    EXPECT_EQ(claim_one().crashes, crash - 1);
    pass(kLease + kInstant);
    ASSERT_EQ(rescue(5).size(), 1U);
  }
  EXPECT_EQ(status(patient), TaskStatus::retrying);
}

TEST_P(LeaseContract, ARescuedTaskWhoseCancellationWasRequestedIsCancelled) {
  const Claim claim = submit_and_claim();
  EXPECT_EQ(cancel(claim.lease.id), CancelStatus::requested);
  pass(kLease + kInstant);
  const std::vector<Rescued> rescued = rescue();
  ASSERT_EQ(rescued.size(), 1U);
  EXPECT_EQ(rescued.front().status, TaskStatus::cancelled);
  const TaskRecord after = record(claim.lease.id);
  EXPECT_EQ(after.data.status, TaskStatus::cancelled);
  EXPECT_EQ(after.data.version, claim.lease.version + 1);
  EXPECT_NO_THROW(validate(after.data));
}

TEST_P(LeaseContract, AnExtendedLeaseIsNotRescued) {
  const Claim claim = submit_and_claim();
  pass(kLease / 2);
  const LeaseState state = extend(claim.lease, 2 * kLease);
  EXPECT_FALSE(state.lost);
  EXPECT_FALSE(state.cancel_requested);
  EXPECT_TRUE(is_about(record(claim.lease.id).lease_expires_at, now() + 2 * kLease));
  EXPECT_EQ(version(claim.lease.id), claim.lease.version);
  pass(kLease);
  EXPECT_TRUE(rescue().empty());
  pass(kLease + kInstant);
  EXPECT_EQ(rescue().size(), 1U);
}

TEST_P(LeaseContract, AnExtensionCanAlsoShortenTheLease) {
  const Claim claim = submit_and_claim();
  extend(claim.lease, kLease / 2);
  pass(kLease / 2 + kInstant);
  EXPECT_EQ(rescue().size(), 1U);
}

TEST_P(LeaseContract, ALeaseThatRanOutButWasNotRescuedIsExtended) {
  const Claim claim = submit_and_claim();
  pass(3 * kLease);
  EXPECT_FALSE(extend(claim.lease).lost);
  EXPECT_TRUE(rescue().empty());
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
}

TEST_P(LeaseContract, ExtendingTellsForEachLeaseInOrderHowItStands) {
  submit_many(4);
  const std::vector<Claim> claims = claim(4);
  ASSERT_EQ(claims.size(), 4U);
  settle(claims[1].lease, Completed{"1"});
  cancel(claims[2].lease.id);
  const std::vector<Lease> leases{claims[0].lease, claims[1].lease, Lease{TaskId::generate(), 3},
                                  claims[2].lease, claims[3].lease};
  const std::vector<LeaseState> states = queue().extend(leases, kLease);
  ASSERT_EQ(states.size(), leases.size());
  const std::vector<bool> lost{false, true, true, false, false};
  const std::vector<bool> cancel_requested{false, false, false, true, false};
  for (std::size_t i = 0; i < leases.size(); ++i) {
    EXPECT_EQ(states[i].lease.id, leases[i].id) << i;
    EXPECT_EQ(states[i].lease.version, leases[i].version) << i;
    EXPECT_EQ(states[i].lost, lost[i]) << i;
    if (!lost[i]) {
      EXPECT_EQ(states[i].cancel_requested, cancel_requested[i]) << i;
    }
  }
}

TEST_P(LeaseContract, SuspectsAreClaimedFewAtATimeWhileOthersFlow) {
  submit_suspects({new_task(), new_task(), new_task()});
  submit_many(5);

  const auto claimed = [&](std::size_t limit, std::size_t suspects) {
    ClaimRequest request = claim_request(limit);
    request.suspects = suspects;
    std::pair<int, int> suspects_and_others;
    for (const Claim& claim : queue().claim(request).claims) {
      ++(claim.crashes >= kSuspectCrashes ? suspects_and_others.first : suspects_and_others.second);
      settle(claim.lease, Released{});
    }
    return suspects_and_others;
  };
  EXPECT_EQ(claimed(100, 0), (std::pair{0, 5}));
  EXPECT_EQ(claimed(100, 1), (std::pair{1, 5}));
  EXPECT_EQ(claimed(100, 2), (std::pair{2, 5}));
  EXPECT_EQ(claimed(100, 100), (std::pair{3, 5}));
}

TEST_P(LeaseContract, ATaskIsNoSuspectAfterItsFirstLosses) {
  const std::vector<TaskId> ids = submit_many(5);
  for (int crash = 1; crash <= kSuspectCrashes; ++crash) {
    EXPECT_THAT(ids_of(claim(10)), ::testing::UnorderedElementsAreArray(ids));
    pass(kLease + kInstant);
    EXPECT_EQ(rescue().size(), 5U);
  }
  EXPECT_EQ(claim(10).size(), 1U);
}

TEST_P(LeaseContract, SuspectsAreCountedOverAllQueues) {
  for (const char* name : {"a", "b"}) submit_suspects({new_task(name)}, name);
  const std::vector<Claim> claims = claim(10, {"a", "b"});
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().queue, "a");
}

TEST_P(LeaseContract, SuspectsAtTheHeadOfAQueueDoNotStopItsOtherTasks) {
  const auto urgent = [] { return new_task(kDefaultQueue, 100); };
  submit_suspects({urgent(), urgent(), urgent()});
  submit_many(2);
  EXPECT_EQ(claim(2).size(), 2U);
  EXPECT_EQ(claim(2).size(), 2U);
  EXPECT_EQ(claim(2).size(), 1U);
}

TEST_P(LeaseContract, AWorkerCanAskWhatItIsTakenToHold) {
  const auto claim_as = [&](const char* worker) {
    submit();
    return engine().queue().claim({.queues = {kDefaultQueue}, .worker = worker}).claims.at(0);
  };
  const Claim mine = claim_as("me");
  claim_as("somebody else");
  const std::vector<Lease> held = engine().queue().held_by("me");
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held.front().id, mine.lease.id);
  EXPECT_EQ(held.front().version, mine.lease.version);
  settle(mine.lease, Completed{"1"});
  EXPECT_TRUE(engine().queue().held_by("me").empty());
  EXPECT_TRUE(engine().queue().held_by("nobody").empty());
}

}  // namespace errand::testing
