#include "worker/held_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "errand/testing/printing.hpp"

#include "support/milestone.hpp"
#include "support/watched_thread.hpp"
#include "unit/worker/claims.hpp"

namespace errand::detail {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::claim_of;
using testing::claimed_again;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Milestone;
using testing::some_claim;
using testing::suspect_claim;
using ::testing::UnorderedElementsAre;
using testing::WatchedThread;

constexpr std::size_t kManyBytes = std::size_t{1} << 40;

/// Old enough for anything to be stale.
constexpr milliseconds kAnyAge{-1};

std::vector<TaskId> ids_of(const std::vector<Settlement>& settlements) {
  std::vector<TaskId> ids;
  ids.reserve(settlements.size());
  for (const Settlement& settlement : settlements) ids.push_back(settlement.lease.id);
  return ids;
}

std::vector<TaskId> ids_of(const std::vector<Lease>& leases) {
  std::vector<TaskId> ids;
  ids.reserve(leases.size());
  for (const Lease& lease : leases) ids.push_back(lease.id);
  return ids;
}

bool is_released(const Settlement& settlement) {
  return std::holds_alternative<Released>(settlement.outcome);
}

std::string result_of(const Settlement& settlement) {
  const auto* completed = std::get_if<Completed>(&settlement.outcome);
  return completed == nullptr ? "no result" : completed->result;
}

TEST(HeldTasks, LeasesOfWhatWasClaimedJustNowCanBeLeftOut) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim});
  EXPECT_THAT(ids_of(held.leases()), ElementsAre(claim.lease.id));
  EXPECT_THAT(ids_of(held.leases(kAnyAge)), ElementsAre(claim.lease.id));
  EXPECT_THAT(ids_of(held.leases(hours{1})), IsEmpty());
}

TEST(HeldTasks, LeasesAreAsOldAsTheClaimHoweverLongItsAnswerTook) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim}, HeldTasks::Steady::now() - hours{2});
  EXPECT_THAT(ids_of(held.leases(hours{1})), ElementsAre(claim.lease.id));
}

TEST(HeldTasks, ATaskGoesFromTheFetcherThroughAHandlerToTheSettler) {
  HeldTasks held{2, 0, kManyBytes};
  EXPECT_TRUE(held.empty());
  const Claim claim = some_claim();
  held.add({claim});
  EXPECT_FALSE(held.empty());
  EXPECT_EQ(held.running(), 0U);

  const auto task = held.next();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->claim().lease.id, claim.lease.id);
  EXPECT_EQ(held.running(), 1U);

  held.finish(task, Completed{"7"});
  EXPECT_EQ(held.running(), 0U);
  EXPECT_FALSE(held.empty()) << "until its outcome is stored";
  const auto ended = held.take_ended().value();
  ASSERT_THAT(ids_of(ended), ElementsAre(claim.lease.id));
  EXPECT_EQ(ended.front().lease.version, claim.lease.version);
  EXPECT_EQ(result_of(ended.front()), "7");
  EXPECT_FALSE(held.empty());

  held.forget(ended);
  EXPECT_TRUE(held.empty());
}

TEST(HeldTasks, TheOnlyTaskInHandIsSettledByItsHandler) {
  HeldTasks held{2, 0, kManyBytes};
  const Claim claim = suspect_claim();
  held.add({claim});
  const auto task = held.next();
  Milestone changed;
  held.on_change([&] { changed.reach(); });
  ASSERT_TRUE(held.take_alone(*task));
  EXPECT_FALSE(held.holds_suspect()) << "it has run";
  EXPECT_EQ(held.wanted(), 1U) << "its handler is busy until it is stored";
  EXPECT_FALSE(held.lost(claim.lease)) << "its settlement will find out";
  EXPECT_THAT(ids_of(held.leases()), ElementsAre(claim.lease.id)) << "kept alive until then";
  held.forget({{claim.lease, Completed{}}});
  EXPECT_FALSE(held.empty());
  const std::size_t before = changed.times();
  held.settled_alone();
  EXPECT_EQ(changed.times(), before + 1) << "there is room, and nothing left";
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.wanted(), 2U);
}

TEST(HeldTasks, AtTheEndTheSettlerWaitsForAHandlerThatSettles) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({some_claim()});
  const auto task = held.next();
  ASSERT_TRUE(held.take_alone(*task));
  held.close();
  EXPECT_EQ(held.running(), 0U);
  EXPECT_TRUE(held.wait_until_idle(milliseconds{0})) << "it needs no grace";
  EXPECT_EQ(held.abandon_running(), 0U);
  held.close_ended();
  WatchedThread settler{[&] { EXPECT_EQ(held.take_ended(), std::nullopt); }};
  ASSERT_TRUE(settler.falls_asleep()) << "what the storage does not take would be left to it";
  held.settled_alone();
  settler.join();
}

TEST(HeldTasks, AtTheEndTheSettlerGetsWhatAHandlerCouldNotSettle) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({some_claim()});
  ASSERT_TRUE(held.take_alone(*held.next()));
  held.close();
  held.close_ended();
  held.call_settler();
  EXPECT_THAT(held.take_ended().value(), IsEmpty()) << "it was called";
  held.settled_alone();
  EXPECT_EQ(held.take_ended(), std::nullopt);
}

TEST(HeldTasks, WhereMoreIsInHandTheSettlerStoresIt) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({some_claim(), some_claim()});
  const auto first = held.next();
  EXPECT_FALSE(held.take_alone(*first)) << "another one waits for the handler";
  held.finish(first, Completed{});
  const auto second = held.next();
  EXPECT_FALSE(held.take_alone(*second)) << "another one waits to be settled";
  held.forget(held.take_ended().value());
  EXPECT_TRUE(held.take_alone(*second));
}

TEST(HeldTasks, ATaskThatWasLostIsNotSettledByItsHandler) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim});
  const auto task = held.next();
  ASSERT_TRUE(held.lost(claim.lease));
  EXPECT_FALSE(held.take_alone(*task));
  held.add({some_claim()});
  EXPECT_FALSE(held.take_alone(*task)) << "the one in hand is another one";
}

TEST(HeldTasks, ATaskClaimedAgainWhileItsHandlerSettlesIsHeldOnItsOwn) {
  HeldTasks held{2, 0, 1000};
  const Claim claim = some_claim();
  held.add({claim});
  const auto task = held.next();
  ASSERT_TRUE(held.take_alone(*task));
  const Claim again = claimed_again(claim);
  held.add({again});
  held.forget({{claim.lease, Completed{}}});
  held.settled_alone();
  EXPECT_FALSE(held.empty());
  const auto successor = held.next();
  EXPECT_EQ(successor->claim().lease.version, again.lease.version);
  EXPECT_TRUE(held.take_alone(*successor));
}

TEST(HeldTasks, TheSettlerComesWhenItIsCalled) {
  HeldTasks held{1, 0, kManyBytes};
  held.call_settler();
  EXPECT_THAT(held.take_ended().value(), IsEmpty());
  WatchedThread settler{[&] { EXPECT_THAT(held.take_ended().value(), IsEmpty()); }};
  ASSERT_TRUE(settler.falls_asleep()) << "once for each call";
  held.call_settler();
  settler.join();
}

TEST(HeldTasks, ADroppedTaskIsNotSettledAndMakesRoom) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({suspect_claim()});
  const auto task = held.next();
  EXPECT_EQ(held.wanted(), 0U);
  held.drop(task);
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.running(), 0U);
  EXPECT_FALSE(held.holds_suspect());
  EXPECT_GE(held.wanted(), 1U);
  held.add({some_claim()});
  held.finish(held.next(), Completed{"2"});
  EXPECT_EQ(held.take_ended().value().size(), 1U);
}

TEST(HeldTasks, TasksRunInTheOrderTheyWereFetched) {
  HeldTasks held{3, 0, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim(), some_claim()};
  held.add({claims[0], claims[1]});
  held.add({claims[2]});
  for (const Claim& claim : claims) EXPECT_EQ(held.next()->claim().lease.id, claim.lease.id);
}

TEST(HeldTasks, WantsOneTaskForEachHandlerUntilDurationsAreKnown) {
  HeldTasks held{3, 1000, kManyBytes};
  EXPECT_EQ(held.wanted(), 3U);
  held.add({some_claim(), some_claim()});
  EXPECT_EQ(held.wanted(), 1U);
  held.add({some_claim()});
  EXPECT_EQ(held.wanted(), 0U);
  const auto task = held.next();
  EXPECT_EQ(held.wanted(), 0U) << "running counts as well as waiting to run";
  held.finish(task, Completed{});
  EXPECT_GE(held.wanted(), 1U) << "what waits to be settled does not";
}

TEST(HeldTasks, WantsManyOnceTasksTurnOutToBeQuick) {
  HeldTasks held{1, 100, kManyBytes};
  held.add({some_claim()});
  held.finish(held.next(), Completed{});
  EXPECT_EQ(held.wanted(), 101U);
}

TEST(HeldTasks, FetchesAtLeastHalfABufferAtATime) {
  HeldTasks held{1, 100, kManyBytes};
  held.add({some_claim()});
  held.finish(held.next(), Completed{});
  std::vector<Claim> claims;
  claims.reserve(52);
  for (int i = 0; i < 52; ++i) claims.push_back(some_claim());
  held.add(claims);
  EXPECT_EQ(held.wanted(), 0U) << "49 more would fit, which is less than half of 100";
  const auto task = held.next();
  held.finish(task, Completed{});
  EXPECT_EQ(held.wanted(), 50U);
}

TEST(HeldTasks, LargePayloadsAreFetchedOneForEachHandlerAndNotMore) {
  HeldTasks held{2, 100, 1000};
  const Claim large = claim_of(Envelope{"a.type", std::string(900, 'x')});
  held.add({large});
  held.finish(held.next(), Completed{});
  for (int i = 0; i < 50; ++i) {  // until the mean size has settled
    held.add({claim_of(Envelope{"a.type", std::string(900, 'x')})});
    held.finish(held.next(), Completed{});
  }
  EXPECT_EQ(held.wanted(), 1U);
  held.add({large});
  EXPECT_EQ(held.wanted(), 1U) << "the second handler has nothing to do";
  held.add({claim_of(Envelope{"a.type", std::string(900, 'x')})});
  EXPECT_EQ(held.wanted(), 0U) << "both are busy, and 1800 bytes are held";
}

TEST(HeldTasks, WhatHasEndedIsNotHeldAnyMore) {
  HeldTasks held{1, 100, 1000};
  held.add({claim_of(Envelope{"a.type", std::string(100'000, 'x')})});
  held.finish(held.next(), Completed{});
  for (int i = 0; i < 200; ++i) {
    held.add({some_claim()});
    held.finish(held.next(), Completed{});
  }
  EXPECT_EQ(held.wanted(), 101U) << "small payloads have come since";
}

TEST(HeldTasks, LargeResultsAreTakenAFewAtATime) {
  HeldTasks held{3, 0, kManyBytes};
  std::vector<TaskId> ids;
  for (int i = 0; i < 3; ++i) {
    const Claim claim = some_claim();
    ids.push_back(claim.lease.id);
    held.add({claim});
    held.finish(held.next(), Completed{std::string(5 << 20, 'x')});
  }
  EXPECT_THAT(ids_of(held.take_ended().value()), ElementsAre(ids[0], ids[1]));
  EXPECT_THAT(ids_of(held.take_ended().value()), ElementsAre(ids[2]));
}

TEST(HeldTasks, AfterCloseNothingIsStartedAnyMore) {
  HeldTasks held{1, 10, kManyBytes};
  held.close();
  const Claim late = some_claim();
  held.add({late});
  EXPECT_EQ(held.next(), nullptr);
  held.close();
  const auto ended = held.take_ended().value();
  ASSERT_THAT(ids_of(ended), ElementsAre(late.lease.id));
  EXPECT_TRUE(is_released(ended.front()));
}

TEST(HeldTasks, NextWaitsForATask) {
  HeldTasks held{1, 0, kManyBytes};
  Milestone ran;
  WatchedThread handler{[&] {
    if (held.next() != nullptr) ran.reach();
  }};
  ASSERT_TRUE(handler.falls_asleep());
  EXPECT_EQ(ran.times(), 0U);
  held.add({some_claim()});
  EXPECT_TRUE(ran.was_reached());
}

TEST(HeldTasks, TheSettlerGetsAllThatHasEndedMeanwhile) {
  HeldTasks held{2, 0, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim()};
  held.add(claims);
  const auto first = held.next();
  const auto second = held.next();
  held.finish(second, Completed{});
  held.finish(first, Completed{});
  EXPECT_THAT(ids_of(held.take_ended().value()),
              ElementsAre(claims[1].lease.id, claims[0].lease.id));
}

TEST(HeldTasks, TheSettlerWaitsForAnEnd) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({some_claim()});
  const auto task = held.next();
  Milestone taken;
  WatchedThread settler{[&] {
    if (held.take_ended().value().size() == 1) taken.reach();
  }};
  ASSERT_TRUE(settler.falls_asleep());
  held.finish(task, Completed{});
  EXPECT_TRUE(taken.was_reached());
}

TEST(HeldTasks, KeepsTheLeasesOfAllStagesUntilTheyAreSettled) {
  HeldTasks held{2, 10, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim(), some_claim()};
  held.add(claims);
  const auto first = held.next();
  const auto second = held.next();
  held.finish(first, Completed{});
  EXPECT_THAT(ids_of(held.leases()),
              UnorderedElementsAre(claims[0].lease.id, claims[1].lease.id, claims[2].lease.id));
  held.forget(held.take_ended().value());
  EXPECT_THAT(ids_of(held.leases()), UnorderedElementsAre(claims[1].lease.id, claims[2].lease.id));
}

TEST(HeldTasks, ProgressIsTakenOnceAndFromRunningTasksOnly) {
  HeldTasks held{2, 0, kManyBytes};
  held.add({some_claim(), some_claim()});
  const auto running = held.next();
  const auto ended = held.next();
  running->set_progress({1, 2, "half"});
  ended->set_progress({2, 2, "all"});
  held.finish(ended, Completed{});
  const auto reports = held.take_progress();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().lease.id, running->claim().lease.id);
  EXPECT_EQ(reports.front().lease.version, running->claim().lease.version);
  EXPECT_EQ(reports.front().progress, (Progress{1, 2, "half"}));
  EXPECT_THAT(held.take_progress(), IsEmpty());
}

TEST(HeldTasks, ProgressThatCouldNotBeStoredIsTakenAgainUnlessThereIsANewerOne) {
  HeldTasks held{2, 0, kManyBytes};
  held.add({some_claim(), some_claim()});
  const auto first = held.next();
  const auto second = held.next();
  first->set_progress({1, 2, ""});
  second->set_progress({1, 2, ""});
  const auto reports = held.take_progress();
  second->set_progress({2, 2, ""});
  held.give_progress_back(reports);
  std::map<TaskId, std::int64_t> done;
  for (const ProgressReport& report : held.take_progress()) {
    done[report.lease.id] = report.progress.done;
  }
  EXPECT_THAT(done, UnorderedElementsAre(std::pair{first->claim().lease.id, 1},
                                         std::pair{second->claim().lease.id, 2}));
}

TEST(HeldTasks, ATaskLostWhileItWaitsIsNotRun) {
  HeldTasks held{2, 10, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim()};
  held.add(claims);
  held.lost(claims[0].lease);
  EXPECT_EQ(held.next()->claim().lease.id, claims[1].lease.id);
  EXPECT_THAT(ids_of(held.leases()), ElementsAre(claims[1].lease.id));
}

TEST(HeldTasks, ATaskLostWhileItRunsIsAskedToStopAndItsOutcomeIsDropped) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim});
  const auto task = held.next();
  held.lost(claim.lease);
  EXPECT_TRUE(task->stop_token().stop_requested());
  EXPECT_EQ(task->stop_reason(), StopReason::lease_lost);
  EXPECT_THAT(held.leases(), IsEmpty());
  EXPECT_EQ(held.running(), 1U) << "its handler is still there";
  EXPECT_FALSE(held.empty());

  held.finish(task, Completed{"7"});
  EXPECT_TRUE(held.empty());
  held.close_ended();
  EXPECT_FALSE(held.take_ended());
}

TEST(HeldTasks, ATaskLostAfterItEndedIsLeftToTheSettler) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim});
  held.finish(held.next(), Completed{"7"});
  held.lost(claim.lease);
  const auto ended = held.take_ended().value();
  EXPECT_THAT(ids_of(ended), ElementsAre(claim.lease.id));
  held.forget(ended);
  EXPECT_TRUE(held.empty());
}

TEST(HeldTasks, ALostLeaseOfAnEarlierAttemptDoesNotTouchThisOne) {
  HeldTasks held{2, 0, kManyBytes};
  const Claim first = some_claim();
  const Claim second = claimed_again(first);
  held.add({second});
  const auto task = held.next();
  held.lost(first.lease);
  held.cancel_requested(first.lease);
  EXPECT_FALSE(task->stop_token().stop_requested());
  held.finish(task, Completed{"second"});
  EXPECT_EQ(result_of(held.take_ended().value().front()), "second");
}

TEST(HeldTasks, ARunningAttemptThatIsOvertakenHereIsAskedToStopAndItsOutcomeIsDropped) {
  HeldTasks held{2, 0, kManyBytes};
  const Claim first = some_claim();
  held.add({first});
  const auto zombie = held.next();
  // Its lease ran out unnoticed, and the fetcher got the task again.
  const Claim second = claimed_again(first);
  held.add({second});
  EXPECT_EQ(zombie->stop_reason(), StopReason::lease_lost);
  const auto successor = held.next();
  EXPECT_EQ(successor->claim().lease.version, second.lease.version);
  EXPECT_FALSE(successor->stop_token().stop_requested());

  held.finish(zombie, Completed{"first"});
  held.finish(successor, Completed{"second"});
  const auto ended = held.take_ended().value();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().lease.version, second.lease.version);
  EXPECT_EQ(result_of(ended.front()), "second");
  held.forget(ended);
  EXPECT_TRUE(held.empty());
}

TEST(HeldTasks, ABufferedAttemptThatIsOvertakenHereIsNotRun) {
  HeldTasks held{2, 10, kManyBytes};
  const Claim first = suspect_claim();
  const Claim second = claimed_again(first);
  held.add({first});
  held.add({second});
  const auto task = held.next();
  EXPECT_EQ(task->claim().lease.version, second.lease.version);
  held.finish(task, Completed{});
  EXPECT_FALSE(held.holds_suspect());
  held.close();
  EXPECT_EQ(held.next(), nullptr) << "there was one task only";
}

TEST(HeldTasks, AnEndedAttemptThatIsOvertakenHereIsForgottenWithoutItsSuccessor) {
  HeldTasks held{2, 0, kManyBytes};
  const Claim first = some_claim();
  held.add({first});
  held.finish(held.next(), Completed{"first"});
  const auto ended = held.take_ended().value();
  const Claim second = claimed_again(first);
  held.add({second});
  held.forget(ended);
  EXPECT_FALSE(held.empty());
  ASSERT_EQ(held.leases().size(), 1U);
  EXPECT_EQ(held.leases().front().version, second.lease.version);
  EXPECT_FALSE(held.next()->stop_token().stop_requested());
}

TEST(HeldTasks, ACancellationReachesATaskInAnyStage) {
  HeldTasks held{1, 10, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim()};
  held.add(claims);
  const auto running = held.next();
  held.cancel_requested(claims[0].lease);
  held.cancel_requested(claims[1].lease);
  EXPECT_EQ(running->stop_reason(), StopReason::cancel);
  EXPECT_EQ(held.next()->stop_reason(), StopReason::cancel);
  held.cancel_requested(some_claim().lease);  // none of ours
}

TEST(HeldTasks, ATaskClaimedWithACancellationIsAskedFromTheStart) {
  HeldTasks held{1, 0, kManyBytes};
  Claim claim = some_claim();
  claim.cancel_requested = true;
  held.add({claim});
  EXPECT_EQ(held.next()->stop_reason(), StopReason::cancel);
}

TEST(HeldTasks, StopCallbacksMayComeBackHere) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = some_claim();
  held.add({claim});
  const auto task = held.next();
  std::size_t seen = 0;
  const std::stop_callback callback{task->stop_token(), [&] { seen = held.running(); }};
  held.cancel_requested(claim.lease);
  EXPECT_EQ(seen, 1U);
}

TEST(HeldTasks, WhatWaitsTooLongIsHandedBack) {
  HeldTasks held{1, 10, kManyBytes};
  const std::vector<Claim> claims{some_claim(), suspect_claim()};
  held.add(claims);
  const auto running = held.next();
  held.release_stale(hours{1});
  EXPECT_EQ(held.leases().size(), 2U) << "nothing is that old";

  held.release_stale(kAnyAge);
  const auto ended = held.take_ended().value();
  ASSERT_THAT(ids_of(ended), ElementsAre(claims[1].lease.id));
  EXPECT_TRUE(is_released(ended.front()));
  EXPECT_FALSE(held.holds_suspect());
  EXPECT_EQ(held.running(), 1U) << "what runs stays";
  held.close();
  EXPECT_EQ(held.next(), nullptr);
}

TEST(HeldTasks, HoldsASuspectFromItsClaimToTheEndOfItsHandler) {
  HeldTasks held{2, 0, kManyBytes};
  held.add({some_claim()});
  EXPECT_FALSE(held.holds_suspect());
  const auto other = held.next();
  const Claim claim = suspect_claim();
  held.add({claim});
  EXPECT_TRUE(held.holds_suspect());
  const auto suspect = held.next();
  EXPECT_TRUE(held.holds_suspect());
  held.finish(other, Completed{});
  EXPECT_TRUE(held.holds_suspect());
  held.lost(claim.lease);
  EXPECT_TRUE(held.holds_suspect()) << "its handler can still kill this worker";
  held.finish(suspect, Completed{});
  EXPECT_FALSE(held.holds_suspect());
}

TEST(HeldTasks, ASuspectLostBeforeItsStartIsNotHeldAnyMore) {
  HeldTasks held{1, 0, kManyBytes};
  const Claim claim = suspect_claim();
  held.add({claim});
  held.lost(claim.lease);
  EXPECT_FALSE(held.holds_suspect());
}

TEST(HeldTasks, CloseHandsBackWhatHasNotStarted) {
  HeldTasks held{1, 10, kManyBytes};
  const std::vector<Claim> claims{some_claim(), suspect_claim(), some_claim()};
  held.add(claims);
  const auto running = held.next();
  held.close();
  EXPECT_EQ(held.next(), nullptr);
  EXPECT_FALSE(held.holds_suspect());
  const auto ended = held.take_ended().value();
  EXPECT_THAT(ids_of(ended), UnorderedElementsAre(claims[1].lease.id, claims[2].lease.id));
  for (const Settlement& settlement : ended) EXPECT_TRUE(is_released(settlement));
  EXPECT_FALSE(running->stop_token().stop_requested()) << "what runs may finish";
  held.finish(running, Completed{"7"});
  EXPECT_EQ(result_of(held.take_ended().value().front()), "7");
}

TEST(HeldTasks, CloseEndsHandlersThatWait) {
  HeldTasks held{1, 0, kManyBytes};
  Milestone ended;
  WatchedThread handler{[&] {
    if (held.next() == nullptr) ended.reach();
  }};
  ASSERT_TRUE(handler.falls_asleep());
  held.close();
  EXPECT_TRUE(ended.was_reached());
}

TEST(HeldTasks, IsIdleWhenNoHandlerRuns) {
  HeldTasks held{1, 0, kManyBytes};
  EXPECT_TRUE(held.wait_until_idle(milliseconds{0}));
  held.add({some_claim()});
  const auto task = held.next();
  EXPECT_FALSE(held.wait_until_idle(milliseconds{1}));
  Milestone idle;
  WatchedThread waiter{[&] {
    if (held.wait_until_idle(testing::kPatience)) idle.reach();
  }};
  ASSERT_TRUE(waiter.falls_asleep());
  held.finish(task, Completed{});
  EXPECT_TRUE(idle.was_reached());
}

TEST(HeldTasks, AskRunningToStopReachesThoseThatRun) {
  HeldTasks held{1, 10, kManyBytes};
  held.add({some_claim(), some_claim()});
  const auto running = held.next();
  held.ask_running_to_stop();
  EXPECT_EQ(running->stop_reason(), StopReason::shutdown);
  EXPECT_EQ(held.next()->stop_reason(), StopReason::none);
}

TEST(HeldTasks, AnAbandonedTaskIsHandedBackAndItsLateOutcomeIsDropped) {
  HeldTasks held{2, 0, kManyBytes};
  const std::vector<Claim> claims{some_claim(), some_claim()};
  held.add(claims);
  const auto stubborn = held.next();
  const auto lost = held.next();
  held.lost(claims[1].lease);
  EXPECT_EQ(held.abandon_running(), 2U) << "both handlers are still there";
  const auto ended = held.take_ended().value();
  ASSERT_THAT(ids_of(ended), ElementsAre(claims[0].lease.id)) << "a lost one is not ours to give";
  EXPECT_TRUE(is_released(ended.front()));
  held.forget(ended);
  held.finish(stubborn, Completed{"late"});
  held.finish(lost, Completed{"late"});
  EXPECT_TRUE(held.empty());
  held.close_ended();
  EXPECT_FALSE(held.take_ended());
}

TEST(HeldTasks, CloseEndedEndsTheSettlerOnceAllIsTaken) {
  HeldTasks held{1, 0, kManyBytes};
  held.add({some_claim()});
  held.finish(held.next(), Completed{});
  held.close_ended();
  EXPECT_EQ(held.take_ended().value().size(), 1U);
  EXPECT_FALSE(held.take_ended());
}

TEST(HeldTasks, TellsTheFetcherWhenThereIsRoomAndWhenAllHasLeft) {
  HeldTasks held{1, 0, kManyBytes};
  int changes = 0;
  // The lock must be free, or this would never return.
  held.on_change([&] {
    static_cast<void>(held.wanted());
    ++changes;
  });
  held.add({some_claim()});
  EXPECT_EQ(changes, 0);
  const auto task = held.next();
  EXPECT_EQ(changes, 1);
  held.finish(task, Completed{});
  EXPECT_EQ(changes, 2);
  held.forget(held.take_ended().value());
  EXPECT_EQ(changes, 3);
}

}  // namespace
}  // namespace errand::detail
