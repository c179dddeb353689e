#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "errand/redis.hpp"

#include "support/redis_server.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RedisClient;
using testing::RedisServer;
using ::testing::SizeIs;

/// Enough to be claimed as a bundle.
constexpr std::size_t kMany = 50;

/// Tasks with compact records that are claimed together, below a prefix of their own.
class RedisBundleTest : public ::testing::Test {
 protected:
  ~RedisBundleTest() override { client.remove(prefix + "*"); }

  std::unique_ptr<Engine> open(const std::string& options = "") const {
    return open_redis(
        Dsn{RedisServer::socket_dsn() + "&prefix=" + prefix + "&record=compact" + options});
  }

  std::vector<TaskId> submit(std::size_t count = kMany) {
    std::vector<NewTask> tasks;
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      tasks.push_back({.envelope = Envelope{"t", std::to_string(i)}, .queue = "q", .retry = {}});
      ids.push_back(tasks.back().id);
    }
    engine->queue().submit(tasks);
    return ids;
  }

  static std::vector<Claim> claim(Engine& by, std::size_t count = kMany,
                                  milliseconds lease = milliseconds{15'000}) {
    ClaimRequest request;
    request.queues = {"q"};
    request.limit = count;
    request.worker = "w";
    request.lease = lease;
    return by.queue().claim(request).claims;
  }
  std::vector<Claim> claim() { return claim(*engine); }

  static std::vector<SettleStatus> complete(Engine& by, const std::vector<Claim>& claims) {
    std::vector<Settlement> settlements;
    for (const Claim& one : claims) settlements.push_back({one.lease, Completed{"1"}});
    return by.queue().settle(settlements);
  }

  static SettleStatus settle(Engine& by, const Claim& held, Outcome outcome) {
    const Settlement settlement{held.lease, std::move(outcome)};
    return by.queue().settle({&settlement, 1}).at(0);
  }

  std::int64_t count(TaskStatus status) {
    return engine->catalog().stats().tasks.at(static_cast<std::size_t>(status));
  }
  std::int64_t listed(TaskStatus status) {
    const TaskPage page = engine->catalog().list({.statuses = {status}, .type = {}, .queue = {}},
                                                 {.page_size = 1000});
    for (const TaskRecord& task : page.items) EXPECT_EQ(task.data.status, status);
    EXPECT_EQ(page.total, static_cast<std::int64_t>(page.items.size()));
    return page.total;
  }

  std::vector<std::string> bundles() { return client.keys(prefix + "errand:bundle*"); }

  RedisClient client;
  std::string prefix = "bundle-" + TaskId::generate().to_string() + ":";
  std::unique_ptr<Engine> engine = open();
};

TEST_F(RedisBundleTest, AClaimOfManyWritesNoEntries) {
  const TaskId id = submit().front();
  const std::string key = prefix + "task:" + id.to_string() + ":meta";
  const auto before = client.text({"GET", key});
  const std::vector<Claim> claims = claim();
  ASSERT_THAT(claims, SizeIs(kMany));
  EXPECT_EQ(claims.front().lease.version, 2);
  EXPECT_EQ(claims.front().attempt, 1);
  EXPECT_EQ(claims.front().envelope.body(), "0");
  EXPECT_EQ(client.text({"GET", key}), before);
  EXPECT_THAT(bundles(), SizeIs(2)) << "its number, and itself";
}

TEST_F(RedisBundleTest, WhatIsDeletedLeavesNothingAmongWhatExpiresTogether) {
  const std::vector<TaskId> ids = submit();
  EXPECT_THAT(complete(*engine, claim()), Each(SettleStatus::settled));
  const std::string key = prefix + "errand:expiring";
  ASSERT_EQ(client.number({"ZCARD", key}), 1);
  EXPECT_EQ(engine->queue().discard(std::span{ids}.first(20)), 20U);
  const std::string left{client.run({"ZRANGE", key, "0", "-1"})->element[0]->str};
  EXPECT_EQ(left.size(), std::string{"*q\n"}.size() + 36 * (kMany - 20));
  EXPECT_EQ(left.find(ids.front().to_string()), std::string::npos);
  EXPECT_EQ(listed(TaskStatus::completed), static_cast<std::int64_t>(kMany) - 20);
  EXPECT_EQ(engine->queue().discard(std::span{ids}.subspan(20)), kMany - 20);
  EXPECT_EQ(client.number({"ZCARD", key}), 0);
}

TEST_F(RedisBundleTest, WhatABundleHoldsIsShownAsRunning) {
  submit();
  const std::vector<TaskId> waiting = submit(3);
  const std::vector<Claim> claims = claim();
  EXPECT_EQ(count(TaskStatus::running), kMany);
  EXPECT_EQ(count(TaskStatus::pending), 3);
  EXPECT_EQ(listed(TaskStatus::running), kMany);
  EXPECT_EQ(listed(TaskStatus::pending), 3);
  EXPECT_EQ(engine->catalog().list({}, {.page_size = 1000}).total, kMany + 3);
  EXPECT_THAT(engine->catalog().list({}, {.page_size = 1000}).items, SizeIs(kMany + 3));
  const TaskPage of_type = engine->catalog().list(
      {.statuses = {TaskStatus::running}, .type = "t", .queue = "q"}, {.page = 2, .page_size = 30});
  EXPECT_EQ(of_type.total, kMany);
  EXPECT_THAT(of_type.items, SizeIs(kMany - 30));
  const TaskRecord held = engine->catalog().find(claims.front().lease.id).value();
  EXPECT_EQ(held.data.status, TaskStatus::running);
  EXPECT_EQ(held.data.version, 2);
  EXPECT_TRUE(held.data.started_at);
  EXPECT_EQ(held.worker, "w");
  EXPECT_EQ(held.attempts, 1);
  EXPECT_EQ(engine->storage().load(waiting.front())->status, TaskStatus::pending);
  const QueueStats queue = engine->catalog().stats().queues.at(0);
  EXPECT_EQ(queue.running, kMany);
  EXPECT_EQ(queue.due, 3);
  EXPECT_THAT(engine->queue().held_by("w"), SizeIs(kMany));
  EXPECT_THAT(engine->queue().held_by("another"), IsEmpty());
  EXPECT_THAT(bundles(), SizeIs(2)) << "looking changes nothing";
}

TEST_F(RedisBundleTest, ABundleIsGoneWithItsLastTask) {
  submit();
  const std::vector<Claim> claims = claim();
  EXPECT_THAT(complete(*engine, {claims.begin(), claims.begin() + 30}),
              Each(SettleStatus::settled));
  EXPECT_EQ(count(TaskStatus::running), kMany - 30);
  EXPECT_EQ(listed(TaskStatus::running), kMany - 30);
  EXPECT_EQ(listed(TaskStatus::completed), 30);
  EXPECT_THAT(complete(*engine, {claims.begin() + 30, claims.end()}), Each(SettleStatus::settled));
  EXPECT_THAT(bundles(), IsEmpty());
  EXPECT_EQ(count(TaskStatus::completed), kMany);
  EXPECT_EQ(count(TaskStatus::pending), 0);
  const TaskRecord ended = engine->catalog().find(claims.front().lease.id).value();
  EXPECT_EQ(ended.data.version, 3);
  EXPECT_EQ(ended.data.result, "1");
  EXPECT_LE(*ended.data.started_at, *ended.data.completed_at);
  EXPECT_THAT(complete(*engine, claims), Each(SettleStatus::lease_lost));
}

TEST_F(RedisBundleTest, AnotherEngineSettlesWhatItDidNotClaim) {
  submit();
  const std::vector<Claim> claims = claim();
  EXPECT_THAT(complete(*open(), claims), Each(SettleStatus::settled));
  EXPECT_THAT(bundles(), IsEmpty());
  EXPECT_EQ(count(TaskStatus::completed), kMany);
  EXPECT_THAT(complete(*engine, claims), Each(SettleStatus::lease_lost));
}

TEST_F(RedisBundleTest, ATaskThatIsSettledTwiceAtOnceIsSettledOnce) {
  submit();
  const std::vector<Claim> claims = claim();
  const std::vector<SettleStatus> statuses = complete(*engine, {claims.at(0), claims.at(0)});
  EXPECT_THAT(statuses, ElementsAre(SettleStatus::settled, SettleStatus::lease_lost));
  EXPECT_EQ(count(TaskStatus::running), kMany - 1);
}

TEST_F(RedisBundleTest, WhoseBundleWasRescuedSettlesNothing) {
  submit();
  const std::vector<Claim> zombie = claim(*engine, kMany, milliseconds{1});
  std::this_thread::sleep_for(milliseconds{10});
  const std::unique_ptr<Engine> other = open();
  EXPECT_THAT(other->queue().rescue({}), SizeIs(kMany));
  EXPECT_THAT(bundles(), IsEmpty());
  EXPECT_THAT(complete(*engine, zombie), Each(SettleStatus::lease_lost));
  EXPECT_EQ(count(TaskStatus::retrying), kMany);
  const std::vector<Claim> again = claim(*other);
  ASSERT_THAT(again, SizeIs(kMany));
  EXPECT_EQ(again.front().crashes, 1);
  EXPECT_THAT(complete(*engine, zombie), Each(SettleStatus::lease_lost));
  EXPECT_THAT(complete(*other, again), Each(SettleStatus::settled));
}

TEST_F(RedisBundleTest, ARescueOfFewLeavesTheOthersToTheNextOne) {
  submit();
  claim(*engine, kMany, milliseconds{1});
  std::this_thread::sleep_for(milliseconds{10});
  EXPECT_THAT(engine->queue().rescue({.limit = 10}), SizeIs(10));
  EXPECT_EQ(count(TaskStatus::running), kMany - 10);
  EXPECT_THAT(engine->queue().rescue({}), SizeIs(kMany - 10));
}

TEST_F(RedisBundleTest, WhatRunsIsAskedToStop) {
  submit();
  const std::vector<Claim> claims = claim();
  const TaskId id = claims.front().lease.id;
  EXPECT_THAT(engine->queue().cancel({&id, 1}), ElementsAre(CancelStatus::requested));
  EXPECT_EQ(count(TaskStatus::running), kMany);
  const LeaseState state =
      engine->queue().extend({&claims.front().lease, 1}, milliseconds{1000}).at(0);
  EXPECT_FALSE(state.lost);
  EXPECT_TRUE(state.cancel_requested);
  EXPECT_EQ(settle(*engine, claims.front(), CancelHonoured{}), SettleStatus::settled);
  EXPECT_EQ(count(TaskStatus::cancelled), 1);
}

TEST_F(RedisBundleTest, ExtendedLeasesOutliveTheirBundle) {
  submit();
  const std::vector<Claim> claims = claim(*engine, kMany, milliseconds{200});
  std::vector<Lease> leases;
  for (const Claim& one : claims) leases.push_back(one.lease);
  for (const LeaseState& state : engine->queue().extend(leases, milliseconds{60'000})) {
    EXPECT_FALSE(state.lost);
  }
  EXPECT_THAT(bundles(), IsEmpty());
  std::this_thread::sleep_for(milliseconds{250});
  EXPECT_THAT(engine->queue().rescue({}), IsEmpty());
  EXPECT_EQ(count(TaskStatus::running), kMany);
  EXPECT_THAT(complete(*engine, claims), Each(SettleStatus::settled));
}

TEST_F(RedisBundleTest, ARetriedTaskOfALivingBundleIsClaimedAgain) {
  submit();
  const std::vector<Claim> claims = claim();
  EXPECT_EQ(settle(*engine, claims.at(7), Retried{}), SettleStatus::settled);
  EXPECT_EQ(settle(*engine, claims.at(8), Released{}), SettleStatus::settled);
  const std::vector<Claim> again = claim();
  ASSERT_THAT(again, SizeIs(2));
  for (const Claim& one : again) EXPECT_EQ(one.lease.version, 4);
  EXPECT_EQ(settle(*engine, claims.at(7), Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(count(TaskStatus::running), kMany);
  EXPECT_THAT(complete(*engine, again), Each(SettleStatus::settled));
}

TEST_F(RedisBundleTest, RetriedAndFreshTasksAreClaimedTogether) {
  submit();
  const std::vector<Claim> claims = claim();
  EXPECT_EQ(settle(*engine, claims.at(7), Retried{}), SettleStatus::settled);
  submit();
  const std::vector<Claim> mixed = claim(*engine, kMany + 1);
  ASSERT_THAT(mixed, SizeIs(kMany + 1));
  EXPECT_THAT(complete(*engine, mixed), Each(SettleStatus::settled));
  EXPECT_EQ(count(TaskStatus::running), kMany - 1);
}

TEST_F(RedisBundleTest, ATaskThatIsSubmittedOnceMoreIsNotTheOneThatIsHeld) {
  submit();
  const std::vector<Claim> claims = claim();
  const TaskId id = claims.front().lease.id;
  engine->storage().remove(id);
  const NewTask again{.id = id, .envelope = Envelope{"t", "again"}, .queue = "q", .retry = {}};
  engine->queue().submit({&again, 1});
  EXPECT_EQ(settle(*engine, claims.front(), Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(engine->storage().load(id)->status, TaskStatus::pending);
  EXPECT_EQ(count(TaskStatus::running), kMany - 1);
  EXPECT_EQ(claim().at(0).envelope.body(), "again");
}

TEST_F(RedisBundleTest, StatusAndRecordMayBeChangedByVersion) {
  submit();
  const std::vector<Claim> claims = claim();
  engine->storage().update_status(claims.at(0).lease.id, TaskStatus::cancelled, 2);
  TaskData data = engine->storage().load(claims.at(1).lease.id).value();
  data.result = "7";
  engine->storage().save(data);
  EXPECT_EQ(settle(*engine, claims.at(0), Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(settle(*engine, claims.at(1), Completed{"1"}), SettleStatus::lease_lost);
  EXPECT_EQ(count(TaskStatus::running), kMany - 1);
  EXPECT_EQ(count(TaskStatus::cancelled), 1);
}

TEST_F(RedisBundleTest, WhatSomebodyDeletedKeepsNoBundle) {
  const TaskId deleted = submit().front();
  const std::vector<Claim> claims = claim(*engine, kMany, milliseconds{1});
  client.run({"DEL", prefix + "task:" + deleted.to_string() + ":meta"});
  EXPECT_THAT(complete(*engine, {claims.begin() + 1, claims.end()}), Each(SettleStatus::settled));
  EXPECT_THAT(bundles(), SizeIs(2));
  std::this_thread::sleep_for(milliseconds{10});
  EXPECT_THAT(engine->queue().rescue({}), IsEmpty());
  EXPECT_THAT(bundles(), IsEmpty());
}

TEST_F(RedisBundleTest, TwoEnginesNeverShareATask) {
  constexpr std::size_t kAll = 3000;
  submit(kAll);
  std::vector<std::vector<TaskId>> done(2);
  {
    std::vector<std::jthread> workers;
    for (std::vector<TaskId>& mine : done) {
      workers.emplace_back([&] {
        const std::unique_ptr<Engine> own = open();
        for (std::vector<Claim> claims = claim(*own, 70); !claims.empty();
             claims = claim(*own, 70)) {
          EXPECT_THAT(complete(*own, claims), Each(SettleStatus::settled));
          for (const Claim& one : claims) mine.push_back(one.lease.id);
        }
      });
    }
  }
  std::set<TaskId> distinct{done[0].begin(), done[0].end()};
  distinct.insert(done[1].begin(), done[1].end());
  EXPECT_THAT(distinct, SizeIs(kAll));
  EXPECT_EQ(done[0].size() + done[1].size(), kAll);
  EXPECT_EQ(count(TaskStatus::completed), static_cast<std::int64_t>(kAll));
  EXPECT_THAT(bundles(), IsEmpty());
}

TEST_F(RedisBundleTest, NothingIsLeftOfTasksThatExpiredTogether) {
  engine = open("&ttl=1");
  submit(250);
  EXPECT_THAT(complete(*engine, claim(*engine, 250)), Each(SettleStatus::settled));
  EXPECT_EQ(client.number({"ZCARD", prefix + "errand:expiring"}), 3) << "a place for 100";
  EXPECT_EQ(count(TaskStatus::completed), 250);
  std::this_thread::sleep_for(milliseconds{1100});
  EXPECT_THAT(engine->queue().rescue({}), IsEmpty()) << "it is what workers ask all the time";
  EXPECT_THAT(client.keys(prefix + "task:*"), IsEmpty());
  EXPECT_THAT(client.keys(prefix + "errand:expiring"), IsEmpty());
  EXPECT_THAT(client.keys(prefix + "errand:index:*"), IsEmpty());
}

TEST_F(RedisBundleTest, WhatWasSavedAnewDoesNotExpireWithTheOthers) {
  engine = open("&ttl=1");
  const std::vector<TaskId> ids = submit();
  complete(*engine, claim());
  const std::unique_ptr<Engine> later = open("&ttl=3600");
  later->storage().save(later->storage().load(ids.front()).value());
  std::this_thread::sleep_for(milliseconds{1100});
  EXPECT_THAT(later->queue().rescue({}), IsEmpty());
  EXPECT_EQ(later->storage().load(ids.front())->status, TaskStatus::completed);
  EXPECT_EQ(later->storage().load(ids.back()), std::nullopt);
  EXPECT_EQ(later->catalog().stats().tasks.at(static_cast<std::size_t>(TaskStatus::completed)), 1);
}

TEST_F(RedisBundleTest, WhatEndedTogetherIsCountedAsLongAsItIsStored) {
  const std::vector<TaskId> ids = submit();
  const Timestamp begin = engine->now();
  complete(*engine, claim());
  const auto ended = [&] {
    std::int64_t all = 0;
    for (const EndedTasks::Second& second : engine->catalog().ended(begin, 5).seconds) {
      all += second.tasks.at(static_cast<std::size_t>(TaskStatus::completed));
    }
    return all;
  };
  EXPECT_EQ(ended(), kMany);
  EXPECT_THAT(engine->catalog().ended(begin, 5).latest, SizeIs(5));
  EXPECT_EQ(engine->queue().discard(std::span{ids}.first(10)), 10U);
  EXPECT_EQ(ended(), kMany - 10);
}

}  // namespace
}  // namespace errand
