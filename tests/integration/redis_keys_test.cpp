#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/redis.hpp"
#include "errand/testing/signal_probe.hpp"

#include "engine/redis/queue.hpp"
#include "support/redis_server.hpp"

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using testing::RedisClient;
using testing::RedisServer;
using testing::SignalProbe;

/// What other programs see of tasks, and what they may do to them: without a prefix, as they are
/// named for everybody. Each test has a queue of its own.
class RedisKeysTest : public ::testing::Test {
 protected:
  RedisKeysTest() : engine{open_redis(Dsn{RedisServer::socket_dsn()})} {}

  ~RedisKeysTest() override {
    for (const TaskId id : ids) engine->storage().remove(id);
  }

  TaskId submit(std::chrono::milliseconds delay = {}) {
    const NewTask task{
        .envelope = Envelope{"email.send", kPayload}, .queue = queue, .delay = delay, .retry = {}};
    engine->queue().submit({&task, 1});
    ids.push_back(task.id);
    return task.id;
  }

  std::vector<Claim> claim() {
    ClaimRequest request;
    request.queues = {queue};
    request.limit = 10;
    request.worker = "w";
    return engine->queue().claim(request).claims;
  }
  Claim submit_and_claim() {
    submit();
    return claim().at(0);
  }

  SettleStatus settle(const Lease& lease, Outcome outcome) {
    const Settlement settlement{lease, std::move(outcome)};
    return engine->queue().settle({&settlement, 1}).at(0);
  }

  /// A record as a program without Errand writes it.
  TaskId write_foreign(const std::string& status) {
    const TaskId id = TaskId::generate();
    ids.push_back(id);
    write(id, "status", status);
    write(id, "payload", kPayload);
    write(id, "submitted_at", "1701388800");
    return id;
  }
  void write(TaskId id, const std::string& name, const std::string& value) {
    client.run({"SET", key(id, name), value, "EX", "86400"});
  }

  static std::string key(TaskId id, const std::string& name) {
    return "task:" + id.to_string() + ":" + name;
  }
  std::optional<std::string> value(TaskId id, const std::string& name) {
    return client.text({"GET", key(id, name)});
  }
  std::int64_t seconds_left(TaskId id, const std::string& name) {
    return client.number({"TTL", key(id, name)});
  }

  /// The keys of the record that there are, each of them a string that lives for 24 hours.
  std::vector<std::string> shown(TaskId id) {
    std::vector<std::string> names;
    for (const char* name :
         {"status", "payload", "result", "error", "submitted_at", "started_at", "completed_at"}) {
      if (client.number({"EXISTS", key(id, name)}) == 0) continue;
      names.emplace_back(name);
      EXPECT_EQ(client.text({"TYPE", key(id, name)}), "string") << name;
      EXPECT_THAT(seconds_left(id, name), AllOf(Ge(86'395), Le(86'400))) << name;
    }
    return names;
  }

  void expect_now_in_seconds(TaskId id, const std::string& name) {
    const std::string text = value(id, name).value_or("none");
    EXPECT_THAT(text, ::testing::MatchesRegex("[0-9]{10}")) << name;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_NEAR(std::stod(text), std::chrono::duration<double>(now).count(), 60) << name;
  }

  void let_record_expire(TaskId id) {
    for (const std::string& name : shown(id)) client.run({"DEL", key(id, name)});
  }

  std::int64_t listed() { return engine->catalog().list({{}, {}, queue}, {}).total; }

  static constexpr const char* kPayload = R"({"to":"test@example.com"})";

  RedisClient client;
  std::unique_ptr<Engine> engine;
  std::string queue = "keys-" + TaskId::generate().to_string();
  std::vector<TaskId> ids;
};

TEST_F(RedisKeysTest, APendingTaskHasStatusPayloadAndTheTimeOfItsSubmit) {
  const TaskId id = submit();
  EXPECT_THAT(shown(id), ElementsAre("status", "payload", "submitted_at"));
  EXPECT_EQ(value(id, "status"), "pending");
  EXPECT_EQ(value(id, "payload"), kPayload);
  expect_now_in_seconds(id, "submitted_at");
}

TEST_F(RedisKeysTest, ARunningTaskHasTheTimeOfItsStartToo) {
  const TaskId id = submit_and_claim().lease.id;
  EXPECT_THAT(shown(id), ElementsAre("status", "payload", "submitted_at", "started_at"));
  EXPECT_EQ(value(id, "status"), "running");
  expect_now_in_seconds(id, "started_at");
}

TEST_F(RedisKeysTest, ACompletedTaskHasItsResultAndTheTimeOfItsEnd) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Completed{R"({"sent":true})"});
  EXPECT_THAT(shown(claim.lease.id), ElementsAre("status", "payload", "result", "submitted_at",
                                                 "started_at", "completed_at"));
  EXPECT_EQ(value(claim.lease.id, "status"), "completed");
  EXPECT_EQ(value(claim.lease.id, "result"), R"({"sent":true})");
  expect_now_in_seconds(claim.lease.id, "completed_at");
}

TEST_F(RedisKeysTest, AShortResultOfATaskThatEndsAloneComesWithItsSignal) {
  const std::unique_ptr<Engine> other = open_redis(Dsn{RedisServer::socket_dsn()});
  SignalProbe mine{*engine, Signal::completion};
  SignalProbe theirs{*other, Signal::completion};
  ASSERT_TRUE(theirs.hears_only_what_follows());
  const auto told = [&](SignalProbe& probe, TaskId id) {
    EXPECT_TRUE(probe.hears_of(id));
    const std::optional<Finish> finish = probe.finish_of(id);
    return finish ? finish->result : std::nullopt;
  };

  const Claim alone = submit_and_claim();
  settle(alone.lease, Completed{"[\n7]"});
  EXPECT_EQ(told(mine, alone.lease.id), "[\n7]");
  EXPECT_EQ(told(theirs, alone.lease.id), "[\n7]");

  // Another task's keys vanish about now: the script has more to do.
  client.run(
      {"ZADD", "errand:expiring", "1", TaskId::generate().to_string() + "completed:" + queue});
  const Claim later = submit_and_claim();
  settle(later.lease, Completed{"8"});
  EXPECT_EQ(told(theirs, later.lease.id), "8");

  client.run(
      {"ZADD", "errand:expiring", "1", TaskId::generate().to_string() + "completed:" + queue});
  const Claim failed = submit_and_claim();
  settle(failed.lease, Failed{});
  EXPECT_EQ(told(theirs, failed.lease.id), std::nullopt);

  const Claim with_much_to_say = submit_and_claim();
  settle(with_much_to_say.lease, Completed{'"' + std::string(1024, 'x') + '"'});
  EXPECT_EQ(told(mine, with_much_to_say.lease.id), std::nullopt);
  EXPECT_EQ(told(theirs, with_much_to_say.lease.id), std::nullopt) << "all who listen would get it";

  submit();
  submit();
  const std::vector<Claim> two = claim();
  const std::vector<Settlement> together{{two.at(0).lease, Completed{"1"}},
                                         {two.at(1).lease, Completed{"2"}}};
  engine->queue().settle(together);
  EXPECT_EQ(told(theirs, two.at(0).lease.id), std::nullopt);
  EXPECT_EQ(told(theirs, two.at(1).lease.id), std::nullopt);
}

TEST_F(RedisKeysTest, AFailedTaskHasItsErrorAndTheTimeOfItsEnd) {
  const Claim claim = submit_and_claim();
  ExceptionData error;
  error.class_name = "RuntimeException";
  settle(claim.lease, Failed{error});
  EXPECT_THAT(shown(claim.lease.id), ElementsAre("status", "payload", "error", "submitted_at",
                                                 "started_at", "completed_at"));
  EXPECT_EQ(value(claim.lease.id, "status"), "failed");
  EXPECT_EQ(parse_exception_data(*value(claim.lease.id, "error")), error);
}

TEST_F(RedisKeysTest, ACancelledTaskHasNeither) {
  const TaskId id = submit();
  engine->queue().cancel({&id, 1});
  EXPECT_THAT(shown(id), ElementsAre("status", "payload", "submitted_at", "completed_at"));
  EXPECT_EQ(value(id, "status"), "cancelled");
}

TEST_F(RedisKeysTest, ARetryingTaskHasWhatARunningOneHas) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Retried{ExceptionData{}, std::chrono::hours{1}});
  EXPECT_THAT(shown(claim.lease.id),
              ElementsAre("status", "payload", "submitted_at", "started_at"));
  EXPECT_EQ(value(claim.lease.id, "status"), "retrying");
}

TEST_F(RedisKeysTest, AllKeysOfAnOpenTaskVanishInTheSameMillisecond) {
  const Claim claim = submit_and_claim();
  std::set<std::int64_t> moments;
  for (const std::string& name : shown(claim.lease.id)) {
    moments.insert(client.number({"PEXPIRETIME", key(claim.lease.id, name)}));
  }
  EXPECT_EQ(moments.size(), 1U);
}

/// What a submit of 13 hours ago has left: the record of one that lives for 11.
TEST_F(RedisKeysTest, AChangeLetsKeysLiveFor24HoursAgainOnceHalfOfThemAreOver) {
  engine = open_redis(Dsn{RedisServer::socket_dsn() + "&ttl=39600"});
  const Claim running = submit_and_claim();
  const TaskId waiting = submit();
  engine = open_redis(Dsn{RedisServer::socket_dsn()});
  engine->queue().extend({&running.lease, 1}, std::chrono::minutes{1});
  EXPECT_THAT(shown(running.lease.id),
              ElementsAre("status", "payload", "submitted_at", "started_at"));
  EXPECT_EQ(claim().size(), 1U);
  EXPECT_THAT(shown(waiting), ElementsAre("status", "payload", "submitted_at", "started_at"));
}

TEST_F(RedisKeysTest, TheEndLetsKeysLiveFor24HoursAgain) {
  const Claim claim = submit_and_claim();
  for (const std::string& name : shown(claim.lease.id)) {
    client.run({"EXPIRE", key(claim.lease.id, name), "100"});
  }
  settle(claim.lease, Completed{"1"});
  EXPECT_EQ(shown(claim.lease.id).size(), 6U);
}

TEST_F(RedisKeysTest, AllKeysOfAFinalTaskVanishInTheSameMillisecond) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Retried{ExceptionData{}, {}});
  settle(this->claim().at(0).lease, Completed{"1"});
  std::map<std::string, std::int64_t> moments;
  for (const std::string& name : client.keys(key(claim.lease.id, "*"))) {
    moments[name] = client.number({"PEXPIRETIME", name});
  }
  EXPECT_EQ(moments.size(), 8U) << "six of the record, meta and history";
  for (const auto& [name, moment] : moments) EXPECT_EQ(moment, moments.begin()->second) << name;
}

TEST_F(RedisKeysTest, ATaskThatWaitsForLongerThanItsKeysIsClaimedWhole) {
  const TaskId id = submit();
  let_record_expire(id);
  EXPECT_THAT(shown(id), IsEmpty());
  const std::vector<Claim> claims = claim();
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().envelope.body(), kPayload);
  EXPECT_THAT(shown(id), ElementsAre("status", "payload", "submitted_at", "started_at"));
  EXPECT_EQ(value(id, "payload"), kPayload);
}

TEST_F(RedisKeysTest, ATaskThatRunsForLongerThanItsKeysEndsWhole) {
  const Claim claim = submit_and_claim();
  let_record_expire(claim.lease.id);
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
  EXPECT_EQ(shown(claim.lease.id).size(), 6U);
  EXPECT_EQ(engine->storage().load(claim.lease.id)->payload, kPayload);
}

TEST_F(RedisKeysTest, LoadingWritesExpiredKeysOfAnOpenTaskAgain) {
  const TaskId id = submit();
  const std::optional<TaskData> before = engine->storage().load(id);
  let_record_expire(id);
  EXPECT_EQ(engine->storage().load(id), before);
  EXPECT_THAT(shown(id), ElementsAre("status", "payload", "submitted_at"));
}

TEST_F(RedisKeysTest, SubmittingATaskAgainWhoseKeysHaveExpiredChangesNothing) {
  const TaskId id = submit();
  let_record_expire(id);
  const NewTask again{.id = id, .envelope = Envelope{"other", "{}"}, .queue = queue, .retry = {}};
  engine->queue().submit({&again, 1});
  EXPECT_EQ(engine->storage().load(id)->payload, kPayload);
  EXPECT_EQ(claim().size(), 1U);
}

TEST_F(RedisKeysTest, AFinalTaskThatHasExpiredIsForgottenByTheQueue) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Completed{"1"});
  EXPECT_EQ(listed(), 1);
  const std::string member = claim.lease.id.to_string() + "completed:" + queue;
  EXPECT_TRUE(client.text({"ZSCORE", "errand:expiring", member}).has_value());
  client.remove(key(claim.lease.id, "*"));
  client.run({"ZADD", "errand:expiring", "1", member});
  EXPECT_EQ(listed(), 0);
  EXPECT_EQ(client.text({"ZSCORE", "errand:expiring", member}), std::nullopt);
}

TEST_F(RedisKeysTest, NothingIsLeftOfARemovedTask) {
  const TaskId id = submit();
  engine->storage().remove(id);
  static_cast<void>(engine->catalog().stats());
  EXPECT_THAT(client.keys("*" + id.to_string() + "*"), IsEmpty());
  EXPECT_THAT(client.keys("*" + queue + "*"), IsEmpty());
  EXPECT_EQ(client.number({"SISMEMBER", "errand:queues", queue}), 0);
}

TEST_F(RedisKeysTest, ARecordOfAnotherProgramIsLoadedAndLeftAsItIs) {
  const TaskId id = write_foreign("pending");
  const std::optional<TaskData> task = engine->storage().load(id);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->status, TaskStatus::pending);
  EXPECT_EQ(task->payload, kPayload);
  EXPECT_EQ(to_iso8601(task->submitted_at), "2023-12-01T00:00:00Z");
  EXPECT_EQ(client.keys(key(id, "*")).size(), 3U);
}

TEST_F(RedisKeysTest, ARecordOfAnotherProgramCanBeMovedAndSaved) {
  const TaskId id = write_foreign("pending");
  engine->storage().update_status(id, TaskStatus::running);
  EXPECT_EQ(value(id, "status"), "running");
  TaskData task = engine->storage().load(id).value();
  task.complete("1", engine->now());
  engine->storage().save(task);
  EXPECT_EQ(value(id, "result"), "1");
  EXPECT_TRUE(engine->catalog().find(id).has_value());
}

TEST_F(RedisKeysTest, ARecordOfAnotherProgramExpiresByDeletion) {
  const TaskId id = write_foreign("completed");
  write(id, "result", "1");
  write(id, "started_at", "1701388805");
  write(id, "completed_at", "1701388810");
  engine->storage().delete_expired_tasks(*parse_iso8601("2023-12-01T00:00:11Z"));
  EXPECT_THAT(client.keys(key(id, "*")), IsEmpty());
}

TEST_F(RedisKeysTest, ATaskThatAnotherProgramCancelledIsNotClaimed) {
  const TaskId id = submit();
  write(id, "status", "cancelled");
  write(id, "completed_at", value(id, "submitted_at").value());
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_EQ(engine->storage().load(id)->status, TaskStatus::cancelled);
  EXPECT_EQ(engine->catalog().list({{TaskStatus::cancelled}, {}, queue}, {}).total, 1);
}

TEST_F(RedisKeysTest, AWorkerLosesTheTaskThatAnotherProgramEnded) {
  const Claim claim = submit_and_claim();
  write(claim.lease.id, "result", R"("theirs")");
  write(claim.lease.id, "completed_at", value(claim.lease.id, "started_at").value());
  write(claim.lease.id, "status", "completed");
  EXPECT_EQ(settle(claim.lease, Completed{R"("ours")"}), SettleStatus::lease_lost);
  const std::optional<TaskData> task = engine->storage().load(claim.lease.id);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->result, R"("theirs")");
  EXPECT_GT(task->version.value(), claim.lease.version);
}

TEST_F(RedisKeysTest, ATimeThatAnotherProgramWroteCounts) {
  const TaskId id = submit();
  EXPECT_NE(engine->storage().load(id)->submitted_at.time_since_epoch().count() % 1'000'000, 0)
      << "once in a million runs this fails for nothing";
  write(id, "submitted_at", "1701388800");
  EXPECT_EQ(to_iso8601(engine->storage().load(id)->submitted_at), "2023-12-01T00:00:00Z");
}

TEST_F(RedisKeysTest, AFinalRecordThatAnotherProgramDeletedIsGone) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Completed{"1"});
  let_record_expire(claim.lease.id);
  EXPECT_EQ(engine->catalog().find(claim.lease.id), std::nullopt);
  EXPECT_EQ(listed(), 0);
}

TEST_F(RedisKeysTest, ALockedRecordIsNotChanged) {
  const Claim claim = submit_and_claim();
  const TaskId id = claim.lease.id;
  const TaskData before = engine->storage().load(id).value();
  client.run({"SET", key(id, "lock"), "1", "NX", "EX", "60"});
  EXPECT_THROW(engine->storage().save(before), ConcurrentModificationException);
  EXPECT_THROW(engine->storage().update_status(id, TaskStatus::cancelled),
               ConcurrentModificationException);
  EXPECT_THROW(engine->storage().remove(id), ConcurrentModificationException);
  EXPECT_THROW(engine->queue().cancel({&id, 1}), StorageException);
  try {
    settle(claim.lease, Completed{"1"});
    FAIL() << "no exception";
  } catch (const StorageException& error) {
    EXPECT_EQ(error.retry(), StorageException::Retry::helps);
    EXPECT_THAT(error.what(), ::testing::HasSubstr(key(id, "lock")));
  }
  EXPECT_EQ(engine->storage().load(id), before);
  EXPECT_FALSE(engine->queue().extend({&claim.lease, 1}, std::chrono::seconds{15}).at(0).lost);

  client.run({"DEL", key(id, "lock")});
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
}

/// A worker that repeats the batch finds the settled ones lost, which it takes for settled.
TEST_F(RedisKeysTest, ALockedTaskDoesNotHoldUpTheOthersOfItsBatch) {
  submit();
  submit();
  const std::vector<Claim> claims = claim();
  client.run({"SET", key(claims.at(0).lease.id, "lock"), "1"});
  const std::vector<Settlement> batch{{claims[0].lease, Completed{"0"}},
                                      {claims[1].lease, Completed{"1"}}};
  try {
    engine->queue().settle(batch);
    FAIL() << "no exception";
  } catch (const StorageException& error) {
    EXPECT_EQ(error.retry(), StorageException::Retry::in_doubt);
  }
  EXPECT_EQ(value(claims[0].lease.id, "status"), "running");
  EXPECT_EQ(value(claims[1].lease.id, "status"), "completed");
  client.run({"DEL", key(claims[0].lease.id, "lock")});
  EXPECT_THAT(engine->queue().settle(batch),
              ElementsAre(SettleStatus::settled, SettleStatus::lease_lost));
}

TEST_F(RedisKeysTest, ALockedTaskIsPassedOverByClaims) {
  const TaskId locked = submit();
  const TaskId free = submit();
  client.run({"SET", key(locked, "lock"), "1"});
  std::vector<Claim> claims = claim();
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().lease.id, free);
  client.run({"DEL", key(locked, "lock")});
  claims = claim();
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().lease.id, locked);
}

TEST_F(RedisKeysTest, AKeyOfAnotherKindHoldsUpNobody) {
  submit();
  const TaskId odd = submit();
  submit();
  client.run({"DEL", key(odd, "payload")});
  client.run({"HSET", key(odd, "payload"), "not", "a text"});
  const std::vector<Claim> claims = claim();
  ASSERT_EQ(claims.size(), 3U);
  for (const Claim& claimed : claims) {
    EXPECT_EQ(claimed.envelope.body(), kPayload);
    EXPECT_EQ(settle(claimed.lease, Completed{"1"}), SettleStatus::settled);
  }
}

TEST_F(RedisKeysTest, AStatusOfAnotherKindDoesNotKeepOthersFromBeingRescued) {
  submit();
  submit();
  ClaimRequest request;
  request.queues = {queue};
  request.limit = 2;
  request.worker = "dead";
  request.lease = std::chrono::milliseconds{1};
  const std::vector<Claim> claims = engine->queue().claim(request).claims;
  ASSERT_EQ(claims.size(), 2U);
  client.run({"DEL", key(claims[0].lease.id, "status")});
  client.run({"RPUSH", key(claims[0].lease.id, "status"), "x"});
  bool rescued = false;
  while (!rescued) {
    for (const Rescued& task : engine->queue().rescue({})) {
      rescued = rescued || task.id == claims[1].lease.id;
    }
  }
  EXPECT_EQ(engine->catalog().find(claims[1].lease.id)->data.status, TaskStatus::retrying);
}

TEST_F(RedisKeysTest, ATaskThatAnotherProgramFailedIsRunAgainWithItsPayload) {
  const Claim claimed = submit_and_claim();
  const TaskId id = claimed.lease.id;
  write(id, "error", R"({"class":"E","message":"m"})");
  write(id, "completed_at", value(id, "started_at").value());
  write(id, "status", "failed");
  EXPECT_EQ(engine->queue().requeue({&id, 1}), 1U);
  let_record_expire(id);
  const std::vector<Claim> again = claim();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].envelope.body(), kPayload);
}

TEST_F(RedisKeysTest, AFinalTaskThatAnotherProgramDeletedCanBeSavedAgain) {
  const Claim claimed = submit_and_claim();
  settle(claimed.lease, Completed{"1"});
  TaskData again = *engine->storage().load(claimed.lease.id);
  let_record_expire(again.id);
  again.version.reset();
  engine->storage().save(again);
  EXPECT_EQ(shown(again.id).size(), 6U);
}

TEST_F(RedisKeysTest, ATaskWhoseEntryIsGoneIsNotClaimed) {
  const TaskId id = submit();
  client.run({"DEL", key(id, "meta")});
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_EQ(value(id, "status"), "pending") << "the record is left alone";
}

TEST_F(RedisKeysTest, AnOutcomeStoredBeforeTheEndVanishesWithTheTask) {
  const TaskId id = submit();
  write(id, "error", "{}");
  client.run({"PERSIST", key(id, "error")});
  EXPECT_EQ(engine->queue().cancel({&id, 1}).at(0), CancelStatus::cancelled);
  EXPECT_GT(seconds_left(id, "error"), 0);
}

TEST_F(RedisKeysTest, OneConnectionIsEnough) {
  const auto narrow = open_redis(Dsn{RedisServer::socket_dsn() + "&connections=1"});
  submit();
  EXPECT_FALSE(narrow->diagnose().empty());
}

TEST_F(RedisKeysTest, ABatchThatIsTooLargeForOneScriptIsSeveral) {
  std::vector<NewTask> tasks(redis::Queue::kMostTasks + 10,
                             NewTask{.envelope = Envelope{"t", "1"}, .queue = queue, .retry = {}});
  std::vector<TaskId> all;
  for (NewTask& task : tasks) {
    task.id = TaskId::generate();
    all.push_back(task.id);
  }
  engine->queue().submit(tasks);
  EXPECT_EQ(listed(), static_cast<std::int64_t>(tasks.size()));
  EXPECT_THAT(engine->queue().cancel(all), ::testing::Each(CancelStatus::cancelled));
  EXPECT_EQ(engine->queue().finished(all).size(), all.size());
  EXPECT_EQ(engine->queue().discard(all), all.size());
}

TEST_F(RedisKeysTest, ScriptsAreLoadedAgainWhenTheServerHasForgottenThem) {
  const TaskId id = submit();
  client.run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(claim().at(0).lease.id, id);
}

}  // namespace
}  // namespace errand
