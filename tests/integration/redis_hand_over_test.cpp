#include <chrono>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errand/application.hpp"
#include "errand/redis.hpp"

#include "support/eventually.hpp"
#include "support/milestone.hpp"
#include "support/redis_server.hpp"
#include "support/running_worker.hpp"

namespace errand {
namespace {

using ::testing::IsEmpty;
using testing::kPatience;
using testing::RedisClient;
using testing::RedisServer;
using testing::RunningWorker;

/// Tasks that go from their submit to a worker which has nothing to do, by both kinds of records.
class RedisHandOverTest : public ::testing::TestWithParam<const char*> {
 protected:
  ~RedisHandOverTest() override { client.remove(prefix + "*"); }

  std::unique_ptr<Engine> open() const {
    return open_redis(
        Dsn{RedisServer::socket_dsn() + "&prefix=" + prefix + "&record=" + GetParam()});
  }

  static NewTask new_task(const std::string& payload = R"({"n":1})") {
    return {.envelope = Envelope{"t", payload, {{"trace", "abc"}}}, .queue = "q", .retry = {}};
  }
  TaskId submit(const NewTask& task) {
    EXPECT_EQ(clients->queue().submit({&task, 1}), 1U);
    return task.id;
  }
  TaskId submit(const std::string& payload = R"({"n":1})") { return submit(new_task(payload)); }

  /// A worker as the queue knows it: what it is handed is here.
  struct Taking {
    std::vector<Claim> handed;
    std::mutex mutex;
    Subscription subscription;

    std::size_t count() {
      const std::lock_guard lock{mutex};
      return handed.size();
    }
    bool takes(std::size_t number) {
      return testing::eventually([&] { return count() >= number; });
    }
    Claim last() {
      const std::lock_guard lock{mutex};
      return handed.back();
    }
  };

  std::unique_ptr<Taking> taking(const std::string& worker, Engine& engine) {
    auto taking = std::make_unique<Taking>();
    taking->subscription = engine.queue().stand_by(worker, [it = taking.get()](Claim claim) {
      const std::lock_guard lock{it->mutex};
      it->handed.push_back(std::move(claim));
    });
    EXPECT_TRUE(testing::eventually([&] { return engine.signals().reaches_other_processes(); }));
    return taking;
  }

  ClaimBatch claim(const std::string& worker, std::size_t stands_by, Engine& engine,
                   std::vector<std::string> queues = {"q"}) {
    ClaimRequest request;
    request.queues = std::move(queues);
    request.limit = 10;
    request.worker = worker;
    request.stands_by = stands_by;
    return engine.queue().claim(request);
  }
  ClaimBatch claim(const std::string& worker, std::size_t stands_by) {
    return claim(worker, stands_by, *workers);
  }

  void settle(const Claim& held, Outcome outcome) {
    const Settlement settlement{held.lease, std::move(outcome)};
    EXPECT_EQ(workers->queue().settle({&settlement, 1}).at(0), SettleStatus::settled);
  }

  TaskRecord record(TaskId id) { return clients->catalog().find(id).value(); }
  TaskStatus status(TaskId id) { return record(id).data.status; }
  std::int64_t standing_by(const std::string& queue = "q") {
    return client.number({"ZCARD", prefix + "errand:standby:" + queue});
  }

  RedisClient client;
  std::string prefix = "hand-" + TaskId::generate().to_string() + ":";
  std::unique_ptr<Engine> clients = open();
  std::unique_ptr<Engine> workers = open();
};
INSTANTIATE_TEST_SUITE_P(Records, RedisHandOverTest, ::testing::Values("shared", "compact"),
                         [](const auto& kind) { return std::string{kind.param}; });

TEST_P(RedisHandOverTest, ATaskThatIsHandedToOneWorkerAndThenToAnotherIsSettledOnce) {
  const auto a = taking("a", *workers);
  const auto b = taking("b", *workers);
  EXPECT_THAT(claim("a", 1).claims, IsEmpty());
  const NewTask task = new_task();
  submit(task);
  ASSERT_TRUE(a->takes(1));
  // It never passes the first one's settle: somebody deletes it, and submits it once more.
  workers->storage().remove(task.id);
  EXPECT_THAT(claim("b", 1).claims, IsEmpty());
  submit(task);
  ASSERT_TRUE(b->takes(1));
  settle(b->last(), Completed{"1"});
  EXPECT_EQ(status(task.id), TaskStatus::completed);
  EXPECT_EQ(standing_by(), 1) << "the second one";
  EXPECT_THAT(claim("a", 1).claims, IsEmpty()) << "nobody hangs";
}

TEST_P(RedisHandOverTest, WhatATakerRunsMayUseTheQueue) {
  std::promise<std::size_t> settled;
  const Subscription subscription = workers->queue().stand_by("w", [&](Claim taken) {
    // As a stop callback of the task's attempt before may, in a thread of its own that it waits
    // for.
    const Settlement settlement{taken.lease, Completed{"1"}};
    auto settling = std::async(std::launch::async, [&] {
      return workers->queue().settle({&settlement, 1}).size();
    });
    settled.set_value(settling.get());
  });
  ASSERT_TRUE(testing::eventually([&] { return workers->signals().reaches_other_processes(); }));
  EXPECT_THAT(claim("w", 1).claims, IsEmpty());
  const TaskId id = submit();
  auto ended = settled.get_future();
  ASSERT_EQ(ended.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(status(id), TaskStatus::completed);
}

TEST_P(RedisHandOverTest, ATaskGoesFromItsSubmitToAWorkerThatStandsBy) {
  const auto w = taking("w", *workers);
  EXPECT_THAT(claim("w", 1).claims, IsEmpty());
  const TaskId id = submit();
  ASSERT_TRUE(w->takes(1));
  const Claim handed = w->last();
  EXPECT_EQ(handed.lease.id, id);
  EXPECT_EQ(handed.envelope.type(), "t");
  EXPECT_EQ(handed.envelope.body(), R"({"n":1})");
  EXPECT_EQ(handed.envelope.headers().at("trace"), "abc");
  EXPECT_EQ(handed.queue, "q");
  EXPECT_EQ(handed.attempt, 1);

  const TaskRecord running = record(id);
  EXPECT_EQ(running.data.status, TaskStatus::running);
  EXPECT_EQ(running.data.version, handed.lease.version);
  EXPECT_EQ(running.worker, "w");
  EXPECT_TRUE(running.data.started_at);
  EXPECT_EQ(workers->queue().held_by("w").size(), 1U);
  EXPECT_THAT(claim("another", 0).claims, IsEmpty()) << "it is taken";

  settle(handed, Completed{"true"});
  EXPECT_EQ(status(id), TaskStatus::completed);
  EXPECT_EQ(record(id).data.result, "true");
}

TEST_P(RedisHandOverTest, OneAtATimeAndAgainOnceItIsSettled) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  submit();
  ASSERT_TRUE(w->takes(1));
  const TaskId waiting = submit();
  EXPECT_EQ(status(waiting), TaskStatus::pending);
  EXPECT_EQ(claim("another", 0).claims.size(), 1U);
  settle(w->last(), Completed{"1"});
  EXPECT_EQ(standing_by(), 1);
  const TaskId next = submit();
  ASSERT_TRUE(w->takes(2));
  EXPECT_EQ(w->last().lease.id, next);
  ExceptionData error;
  error.class_name = "E";
  error.message = "no";
  settle(w->last(), Failed{error});
  EXPECT_EQ(standing_by(), 1) << "whatever the outcome";
  submit();
  ASSERT_TRUE(w->takes(3));
  settle(w->last(), Released{});
  EXPECT_EQ(standing_by(), 0) << "it gave the task back because it is busy";
}

TEST_P(RedisHandOverTest, PayloadsThatAreNotPartOfTheEntryComeAlong) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  const std::string payload = '"' + std::string(5000, 'x') + '"';
  const TaskId id = submit(payload);
  ASSERT_TRUE(w->takes(1));
  EXPECT_EQ(w->last().envelope.body(), payload);
  EXPECT_EQ(record(id).data.payload, payload);
}

TEST_P(RedisHandOverTest, WhatIsNotForNowOrNotShortOrNotAloneWaits) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  NewTask later = new_task();
  later.delay = std::chrono::hours{1};
  EXPECT_EQ(status(submit(later)), TaskStatus::pending);
  EXPECT_EQ(status(submit('"' + std::string(20'000, 'x') + '"')), TaskStatus::pending);
  const std::vector<NewTask> two{new_task(), new_task()};
  clients->queue().submit(two);
  EXPECT_EQ(status(two[0].id), TaskStatus::pending);
  EXPECT_EQ(status(two[1].id), TaskStatus::pending);
  const std::string queue = "q";
  clients->queue().pause({&queue, 1});
  EXPECT_EQ(status(submit()), TaskStatus::pending);
  EXPECT_EQ(w->count(), 0U);
}

TEST_P(RedisHandOverTest, AnIdThatIsKnownIsHandedOverOnce) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  const NewTask task = new_task();
  submit(task);
  ASSERT_TRUE(w->takes(1));
  settle(w->last(), Completed{"1"});
  EXPECT_EQ(clients->queue().submit({&task, 1}), 0U);
  EXPECT_EQ(status(task.id), TaskStatus::completed);
  EXPECT_EQ(w->count(), 1U);
}

TEST_P(RedisHandOverTest, AWorkerThatIsBusyIsNotAsked) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  static_cast<void>(claim("w", 0));
  EXPECT_EQ(standing_by(), 0);
  EXPECT_EQ(status(submit()), TaskStatus::pending);
  EXPECT_EQ(claim("w", 1).claims.size(), 1U) << "which it can begin, and no more";
  EXPECT_EQ(standing_by(), 0);
}

TEST_P(RedisHandOverTest, AWorkerThatHasMoreToDoMeanwhileDoesNotStandByAgain) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  submit();
  ASSERT_TRUE(w->takes(1));
  static_cast<void>(claim("w", 0));
  settle(w->last(), Completed{"1"});
  EXPECT_EQ(standing_by(), 0);
}

TEST_P(RedisHandOverTest, OfSeveralQueuesAsManyAsItCanBegin) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1, *workers, {"q", "r"}));
  EXPECT_EQ(standing_by("q"), 1);
  EXPECT_EQ(standing_by("r"), 0);
  static_cast<void>(claim("w", 2, *workers, {"q", "r"}));
  EXPECT_EQ(standing_by("r"), 1);
}

TEST_P(RedisHandOverTest, AWorkerThatHasLeftIsNotAsked) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  w->subscription.reset();
  EXPECT_EQ(standing_by(), 0);
  EXPECT_EQ(status(submit()), TaskStatus::pending);
}

TEST_P(RedisHandOverTest, ASettleAfterLeavingDoesNotComeBack) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  submit();
  ASSERT_TRUE(w->takes(1));
  w->subscription.reset();
  settle(w->last(), Completed{"1"});
  EXPECT_EQ(standing_by(), 0);
}

TEST_P(RedisHandOverTest, NobodyHearsForAProcessThatIsGoneAndTheNextOneTakesIt) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  // Who listens to whatever there is does not count.
  RedisClient monitor;
  monitor.run({"PSUBSCRIBE", "*"});
  // The last who came is asked first.
  client.run({"ZADD", prefix + "errand:standby:q", "9000000000000000",
              TaskId::generate().to_string() + " 15000 dead"});
  const TaskId id = submit();
  ASSERT_TRUE(w->takes(1));
  EXPECT_EQ(w->last().lease.id, id);
}

TEST_P(RedisHandOverTest, AWorkerThatWasNotHeardOfForLongIsNotAsked) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  const std::string key = prefix + "errand:standby:q";
  const std::string member = RedisClient::Reply {
    client.run({"ZRANGE", key, "0", "-1"})
    } -> element[0]->str;
  client.run({"ZADD", key, "1000000", member});
  EXPECT_EQ(status(submit()), TaskStatus::pending);
  EXPECT_EQ(w->count(), 0U);
}

TEST_P(RedisHandOverTest, WhatIsNoTaskIsLeftAlone) {
  const auto w = taking("w", *workers);
  static_cast<void>(claim("w", 1));
  const std::string process =
      std::string{client.run({"ZRANGE", prefix + "errand:standby:q", "0", "-1"})->element[0]->str}
          .substr(0, 36);
  const std::string channel = prefix + "errand:0:hand:" + process;
  const std::string id = TaskId::generate().to_string();
  for (const std::string& garbage :
       {std::string{}, std::string{"w"}, "w\n" + id, "w\n" + id + "\n999999999999999999999999\nx",
        "w\n" + id + "\n5\nx", "w\n" + id + "\n3\nabc", "nobody\n" + id + "\n1\nx",
        std::string{"w\nid\n1\nx"}}) {
    EXPECT_EQ(client.number({"PUBLISH", channel, garbage}), 1) << "it is heard";
  }
  submit();
  ASSERT_TRUE(w->takes(1)) << "and what follows is, too";
  EXPECT_EQ(w->count(), 1U);
}

TEST_P(RedisHandOverTest, TheTaskOfAWorkerThatDiedIsRescued) {
  const auto w = taking("w", *workers);
  ClaimRequest request;
  request.queues = {"q"};
  request.worker = "w";
  request.lease = std::chrono::milliseconds{1};
  request.stands_by = 1;
  static_cast<void>(workers->queue().claim(request));
  const TaskId id = submit();
  ASSERT_TRUE(w->takes(1));
  ASSERT_TRUE(testing::eventually([&] { return !clients->queue().rescue({}).empty(); }));
  EXPECT_EQ(status(id), TaskStatus::retrying);
  EXPECT_EQ(record(id).crashes, 1);
  const Settlement late{w->last().lease, Completed{"1"}};
  EXPECT_EQ(workers->queue().settle({&late, 1}).at(0), SettleStatus::lease_lost);
}

TEST_P(RedisHandOverTest, WorkersServeOneAfterTheOtherAndLeaveNothingBehind) {
  Handlers handlers;
  handlers.add_raw("t", [](const Envelope& envelope, TaskContext&) { return envelope.body(); });
  WorkerOptions options;
  options.queues = {"q"};
  options.concurrency = 2;
  RunningWorker first{*workers, handlers, options};
  RunningWorker second{*workers, handlers, options};
  std::vector<TaskId> ids;
  for (int i = 0; i < 200; ++i) {
    const TaskId id = submit(std::to_string(i));
    ASSERT_TRUE(testing::eventually([&] { return status(id) == TaskStatus::completed; })) << i;
    EXPECT_EQ(record(id).data.result, std::to_string(i));
    ids.push_back(id);
  }
  const WorkerReport one = first.stop_and_report();
  const WorkerReport other = second.stop_and_report();
  EXPECT_EQ(one.completed + other.completed, 200);
  EXPECT_EQ(standing_by(), 0);
  EXPECT_EQ(status(submit()), TaskStatus::pending);
}

}  // namespace
}  // namespace errand
