#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/redis.hpp"
#include "errand/testing/signal_probe.hpp"

#include "support/redis_server.hpp"

namespace errand {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RedisClient;
using testing::RedisServer;
using testing::SignalProbe;
using ::testing::UnorderedElementsAre;

/// What there is of compact records on the server, below a prefix of their own.
class RedisCompactTest : public ::testing::Test {
 protected:
  ~RedisCompactTest() override { client.remove(prefix + "*"); }

  std::string dsn(const std::string& record) const {
    return RedisServer::socket_dsn() + "&prefix=" + prefix + "&record=" + record;
  }

  TaskId submit(const std::string& payload = "1") {
    const NewTask task{.envelope = Envelope{"t", payload}, .queue = "q", .retry = {}};
    engine->queue().submit({&task, 1});
    return task.id;
  }

  Claim claim() {
    ClaimRequest request;
    request.queues = {"q"};
    request.limit = 1;
    request.worker = "w";
    return engine->queue().claim(request).claims.at(0);
  }

  void settle(const Claim& held, Outcome outcome) {
    const Settlement settlement{held.lease, std::move(outcome)};
    ASSERT_EQ(engine->queue().settle({&settlement, 1}).at(0), SettleStatus::settled);
  }

  /// What follows the id in the names of its keys.
  std::vector<std::string> keys(TaskId id) {
    const std::string begin = prefix + "task:" + id.to_string() + ":";
    std::vector<std::string> names;
    for (const std::string& key : client.keys(begin + "*"))
      names.push_back(key.substr(begin.size()));
    return names;
  }
  std::int64_t expiry(TaskId id, const std::string& name) {
    return client.number({"PEXPIRETIME", prefix + "task:" + id.to_string() + ":" + name});
  }

  static std::string long_json() { return '"' + std::string(5000, 'x') + '"'; }

  RedisClient client;
  std::string prefix = "compact-" + TaskId::generate().to_string() + ":";
  std::unique_ptr<Engine> engine = open_redis(Dsn{dsn("compact")});
};

TEST_F(RedisCompactTest, ATaskIsOneKeyFromItsSubmitToItsEnd) {
  const TaskId id = submit();
  EXPECT_THAT(keys(id), ElementsAre("meta"));
  EXPECT_EQ(expiry(id, "meta"), -1) << "nothing that waits expires";
  const Claim held = claim();
  EXPECT_THAT(keys(id), ElementsAre("meta"));
  settle(held, Completed{R"({"sent":true})"});
  EXPECT_THAT(keys(id), ElementsAre("meta"));
  EXPECT_GT(expiry(id, "meta"), 0);
  EXPECT_EQ(engine->storage().load(id)->result, R"({"sent":true})");
}

TEST_F(RedisCompactTest, AShortResultComesWithItsSignal) {
  const std::unique_ptr<Engine> other = open_redis(Dsn{dsn("compact")});
  SignalProbe probe{*other, Signal::completion};
  ASSERT_TRUE(probe.hears_only_what_follows());
  const TaskId id = submit();
  settle(claim(), Completed{"7"});
  ASSERT_TRUE(probe.hears_of(id));
  ASSERT_TRUE(probe.finish_of(id));
  EXPECT_EQ(probe.finish_of(id)->result, "7");
}

TEST_F(RedisCompactTest, LongDocumentsHaveKeysWhichVanishWithTheTask) {
  const TaskId id = submit(long_json());
  EXPECT_THAT(keys(id), UnorderedElementsAre("meta", "payload"));
  EXPECT_EQ(expiry(id, "payload"), -1);
  const Claim held = claim();
  EXPECT_EQ(held.envelope.body(), long_json());
  settle(held, Completed{long_json()});
  EXPECT_THAT(keys(id), UnorderedElementsAre("meta", "payload", "result"));
  EXPECT_GT(expiry(id, "meta"), 0);
  EXPECT_EQ(expiry(id, "payload"), expiry(id, "meta"));
  EXPECT_EQ(expiry(id, "result"), expiry(id, "meta"));
  const std::vector<Finish> finishes = engine->queue().finished({&id, 1});
  ASSERT_EQ(finishes.size(), 1U);
  EXPECT_EQ(finishes[0].result, long_json());
}

TEST_F(RedisCompactTest, ALongPayloadOutlivesTheTaskThatRunsAgain) {
  const TaskId id = submit(long_json());
  ExceptionData error;
  error.message = std::string(5000, 'e');
  settle(claim(), Failed{error});
  EXPECT_THAT(keys(id), UnorderedElementsAre("meta", "payload", "error", "history"));
  EXPECT_EQ(engine->queue().requeue({&id, 1}), 1U);
  EXPECT_THAT(keys(id), UnorderedElementsAre("meta", "payload", "history"));
  EXPECT_EQ(expiry(id, "payload"), -1);
  EXPECT_EQ(claim().envelope.body(), long_json());
}

TEST_F(RedisCompactTest, AShortResultTakesThePlaceOfALongOne) {
  const TaskId id = submit();
  const Claim held = claim();
  TaskData running = engine->storage().load(id).value();
  running.result = long_json();
  engine->storage().save(running);
  EXPECT_THAT(keys(id), UnorderedElementsAre("meta", "result"));
  running = engine->storage().load(id).value();
  running.complete("1", engine->now());
  engine->storage().save(running);
  EXPECT_THAT(keys(id), ElementsAre("meta"));
  EXPECT_EQ(engine->storage().load(id)->result, "1");
}

TEST_F(RedisCompactTest, NothingIsLeftOfARemovedTask) {
  const TaskId id = submit(long_json());
  engine->storage().remove(id);
  EXPECT_THAT(keys(id), IsEmpty());
}

TEST_F(RedisCompactTest, ADamagedEntryHoldsUpNobody) {
  const TaskId damaged = submit();
  const TaskId whole = submit();
  client.run({"SET", prefix + "task:" + damaged.to_string() + ":meta", "\x93\x01"});
  EXPECT_EQ(claim().lease.id, whole);
}

TEST_F(RedisCompactTest, AnEntryWithoutItsNumberHoldsUpNobody) {
  const TaskId damaged = submit();
  const TaskId whole = submit();
  client.run({"EVAL", "redis.call('SET', KEYS[1], cmsgpack.pack('pending','1'))", "1",
              prefix + "task:" + damaged.to_string() + ":meta"});
  EXPECT_EQ(claim().lease.id, whole);
}

TEST_F(RedisCompactTest, AStorageHasRecordsOfOneKind) {
  submit();
  try {
    static_cast<void>(open_redis(Dsn{dsn("shared")}));
    FAIL() << "no exception";
  } catch (const ConfigurationException& error) {
    EXPECT_THAT(error.what(), HasSubstr("record=compact"));
  }
  EXPECT_NO_THROW(static_cast<void>(open_redis(Dsn{dsn("compact")})));
}

/// As older programs have set it up.
TEST_F(RedisCompactTest, AStorageThatDoesNotSayItsKindHasSharedRecords) {
  client.run({"DEL", prefix + "errand:record"});
  EXPECT_THROW(static_cast<void>(open_redis(Dsn{dsn("compact")})), ConfigurationException);
  EXPECT_NO_THROW(static_cast<void>(open_redis(Dsn{dsn("shared")})));
}

/// Whose keys somebody has deleted, and who was submitted once more.
TEST_F(RedisCompactTest, ATaskInTwoPlacesIsClaimedOnce) {
  const TaskId id = submit();
  client.run({"DEL", prefix + "task:" + id.to_string() + ":meta"});
  const NewTask again{.id = id, .envelope = Envelope{"t", "2"}, .queue = "q", .retry = {}};
  engine->queue().submit({&again, 1});
  ClaimRequest request;
  request.queues = {"q"};
  request.limit = 10;
  request.worker = "w";
  const std::vector<Claim> claims = engine->queue().claim(request).claims;
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].envelope.body(), "2");
}

}  // namespace
}  // namespace errand
