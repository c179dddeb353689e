#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Call;
using testing::eventually;
using testing::kPatience;
using testing::Milestone;
using testing::RunningWorker;
using Retry = StorageException::Retry;

class WorkerOutageTest : public testing::WorkerTest {
 protected:
  WorkerOutageTest() {
    handle([this](TaskContext&) {
      ++runs;
      return std::string{"1"};
    });
  }

  /// What submit, one claim and one settlement make of a task's version.
  std::int64_t version_of_an_undisturbed_task() {
    const TaskHandle task = submit();
    const auto claims =
        other_process->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims;
    if (claims.size() != 1 || claims.front().lease.id != task.id()) {
      throw std::logic_error{"another task was claimed"};
    }
    const Settlement settlement{claims.front().lease, Completed{"1"}};
    other_process->queue().settle({&settlement, 1});
    return record(task).data.version.value();
  }

  std::atomic<int> runs = 0;
};

TEST_F(WorkerOutageTest, ClaimsAgainWhenTheStorageIsBack) {
  engine.refuse(Call::claim, Retry::helps, 2);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_TRUE(logger.says("cannot claim tasks, trying again in 100 ms: the storage is away"));
  EXPECT_TRUE(logger.says("trying again in 200 ms")) << "each pause is longer";
}

TEST_F(WorkerOutageTest, SurvivesWhateverTheEngineThrows) {
  for (const Call call : {Call::claim, Call::settle, Call::rescue}) engine.run_out_of_memory(call);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_TRUE(logger.says("cannot claim tasks"));
  EXPECT_TRUE(logger.says("cannot store 1 outcome"));
  EXPECT_TRUE(logger.says("cannot rescue tasks"));
}

TEST_F(WorkerOutageTest, EndsWhereItCannotGoOnFetching) {
  engine.throw_a_number(Call::claim);
  RunningWorker worker{engine, handlers, {}, logger};
  EXPECT_THROW(static_cast<void>(worker.report()), int);
}

TEST_F(WorkerOutageTest, DrainingEndsWithTheErrorThatWillNotPass) {
  engine.refuse(Call::claim, Retry::useless);
  const TaskHandle task = submit();
  WorkerOptions options;
  options.drain = true;
  RunningWorker worker{engine, handlers, options, logger};
  EXPECT_THROW(static_cast<void>(worker.report()), StorageException);
  EXPECT_EQ(task.status(), TaskStatus::pending);
}

TEST_F(WorkerOutageTest, AnOutcomeThatCannotBeStoredDoesNotKeepOthersWaiting) {
  Milestone both_ran;
  Milestone may_end;
  std::atomic<int> begun = 0;
  handle(
      [&](TaskContext&) {
        if (++begun == 2) both_ran.reach();
        EXPECT_TRUE(may_end.was_reached());
        return std::string{"1"};
      },
      "together");
  WorkerOptions options;
  options.concurrency = 3;
  const auto first = submit_many(2, "together");
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(both_ran.was_reached());
  // The batch is refused, and so is the first of the two by itself.
  engine.refuse(Call::settle, Retry::useless, 2);
  may_end.reach();
  for (const TaskHandle& task : first) EXPECT_EQ(task.get_json(kPatience), "1");
}

TEST_F(WorkerOutageTest, ClaimsWhoseRepliesWereLostAreHandedBackAndCountForNothing) {
  engine.lose_reply(Call::claim, Retry::in_doubt, 5);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_TRUE(logger.says("handed back 1 task that came for this worker and did not reach it"));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(record(task).crashes, 0);
  EXPECT_EQ(record(task).attempts, 1);
}

TEST_F(WorkerOutageTest, AnOutcomeThatIsNeverTakenDoesNotKeepLaterOnesWaiting) {
  engine.break_down(Call::settle);
  const TaskHandle first = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  ASSERT_TRUE(logger.says("cannot store 1 outcome"));
  engine.mend();
  engine.refuse(Call::settle, Retry::useless, 1);
  const auto others = submit_many(20);
  for (const TaskHandle& task : others) EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(first.get_json(kPatience), "1");
}

TEST_F(WorkerOutageTest, KeepsAnOutcomeUntilTheStorageTakesIt) {
  const std::int64_t version = version_of_an_undisturbed_task();
  engine.refuse(Call::settle, Retry::helps, 2);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_TRUE(logger.says("cannot store 1 outcome"));
  EXPECT_EQ(worker.stop_and_report().completed, 1);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(record(task).data.version, version);
}

TEST_F(WorkerOutageTest, AnOutageLongerThanTheLeaseTakesNoTaskFromWorkersThatLiveThroughIt) {
  Milestone begun;
  Milestone may_end;
  handle(
      [&](TaskContext&) {
        begun.reach();
        EXPECT_TRUE(may_end.was_reached());
        return std::string{"1"};
      },
      "long");
  WorkerOptions options = one_at_a_time();
  options.lease = seconds{3};  // extended every second, while rescues are more frequent
  const TaskHandle task = submit({}, "long");
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(begun.was_reached());
  engine.break_down(Call::extend);
  engine.break_down(Call::rescue);
  ASSERT_TRUE(logger.says("cannot extend leases"));
  clock.advance(seconds{10});
  engine.mend();
  ASSERT_TRUE(engine.was_called(Call::rescue, engine.calls(Call::rescue) + 2));
  EXPECT_EQ(task.status(), TaskStatus::running);
  EXPECT_EQ(record(task).crashes, 0);
  may_end.reach();
  EXPECT_EQ(task.get_json(kPatience), "1");
}

TEST_F(WorkerOutageTest, AStorageThatStoodStillTakesNoTaskFromWorkersThatWaitedForIt) {
  WorkerOptions options = one_at_a_time();
  options.lease = seconds{3};  // extended every second, while rescues are more frequent
  RunningWorker worker{engine, handlers, options, logger};
  Milestone goes_on;
  Milestone ends;
  engine.hold(Call::extend, goes_on);
  engine.hold(Call::extend, ends);
  ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 1));
  const std::size_t rescues = engine.calls(Call::rescue);
  std::this_thread::sleep_for(milliseconds{1100});  // longer than from one extension to the next
  goes_on.reach();
  ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 1));
  EXPECT_EQ(engine.calls(Call::rescue), rescues) << "others have had no time to extend theirs";
  ends.reach();
}

/// The first look may come before those whom the storage kept from it have extended their leases.
TEST_F(WorkerOutageTest, AfterAnOutageNothingIsTakenBeforeTheStorageWasSeenToBeBack) {
  const TaskHandle task = submit();
  lose_with_a_worker();
  clock.advance(seconds{16});
  engine.refuse(Call::rescue, Retry::useless);  // as a full disk does
  Milestone at_once;
  at_once.reach();
  Milestone goes_on;
  engine.hold(Call::rescue, at_once);  // is refused
  engine.hold(Call::rescue, at_once);  // only looks
  engine.hold(Call::rescue, goes_on);
  WorkerOptions options = one_at_a_time();
  options.lease = seconds{3};
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(engine.was_called(Call::rescue, 3));
  EXPECT_EQ(task.status(), TaskStatus::running);
  EXPECT_EQ(record(task).data.version, 2);
  goes_on.reach();
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(record(task).crashes, 1);
}

TEST_F(WorkerOutageTest, DrainingTakesWhatADeadWorkerLeft) {
  const TaskHandle task = submit();
  lose_with_a_worker();
  WorkerOptions options;
  options.drain = true;
  {
    RunningWorker early{engine, handlers, options, logger};
    EXPECT_EQ(early.report().completed, 0) << "its lease lasts";
  }
  clock.advance(seconds{16});
  RunningWorker worker{engine, handlers, options, logger};
  EXPECT_EQ(worker.report().completed, 1);
  EXPECT_EQ(record(task).crashes, 1);
}

/// Loses the first claims on the way, and says so, as where one of several storages did not answer.
class ForgetfulEngine final : public testing::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  TaskQueue& queue() noexcept override { return queue_; }

 private:
  struct Queue final : testing::ForwardingQueue {
    using ForwardingQueue::ForwardingQueue;
    ClaimBatch claim(const ClaimRequest& request) override {
      ClaimBatch batch = ForwardingQueue::claim(request);
      if (!batch.claims.empty() && !std::exchange(has_lost, true)) {
        batch.claims.clear();
        batch.in_doubt = true;
      }
      return batch;
    }
    bool has_lost = false;
  };
  Queue queue_{&real().queue()};
};

TEST_F(WorkerOutageTest, WhatAnAnswerInDoubtMayHaveGivenIsHandedBackAtOnce) {
  const TaskHandle task = submit();
  ForgetfulEngine forgetful{file.open(clock)};
  WorkerOptions options;
  options.drain = true;
  RunningWorker worker{forgetful, handlers, options, logger};
  EXPECT_EQ(worker.report().completed, 1);
  EXPECT_TRUE(logger.says("handed back 1 task that came for this worker and did not reach it"));
  EXPECT_EQ(record(task).attempts, 1);
  EXPECT_EQ(record(task).crashes, 0);
}

TEST_F(WorkerOutageTest, AWorkerThatEndsAfterALostReplyHandsBackWhatItWasGiven) {
  engine.lose_reply(Call::claim, Retry::in_doubt, 1000);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, {}, logger};
  ASSERT_TRUE(logger.says("cannot claim tasks"));
  static_cast<void>(worker.stop_and_report());
  EXPECT_EQ(task.status(), TaskStatus::retrying);
  EXPECT_EQ(record(task).attempts, 0);
  EXPECT_EQ(record(task).crashes, 0);
}

TEST_F(WorkerOutageTest, KeepsTheLeaseOfAnOutcomeItCannotStore) {
  WorkerOptions options = one_at_a_time();
  options.lease = milliseconds{300};
  engine.break_down(Call::settle);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(logger.says("cannot store 1 outcome"));
  for (int i = 0; i < 3; ++i) {
    clock.advance(milliseconds{299});
    EXPECT_TRUE(other_process->queue().rescue({}).empty()) << "round " << i;
    ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 2));
  }
  engine.mend();
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(runs, 1);
}

TEST_F(WorkerOutageTest, ASettlementWhoseReplyWasLostCountsOnce) {
  const std::int64_t version = version_of_an_undisturbed_task();
  engine.lose_reply(Call::settle);
  const TaskHandle task = submit();
  RunningWorker worker{engine, handlers, one_at_a_time(), logger};
  ASSERT_TRUE(engine.was_called(Call::settle, 2)) << "in doubt, it asks again";
  const TaskHandle next = submit();
  EXPECT_EQ(next.get_json(kPatience), "1");
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(record(task).data.version, version);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(worker.stop_and_report().completed, 2);
}

TEST_F(WorkerOutageTest, ARetryWhoseReplyWasLostCountsOnce) {
  handle([](TaskContext&) -> std::string { throw std::runtime_error{"no"}; }, "failing");
  engine.lose_reply(Call::settle);
  const TaskHandle task = submit({}, "failing");
  RunningWorker worker{engine, handlers, one_at_a_time(), logger};
  ASSERT_TRUE(engine.was_called(Call::settle, 2));
  static_cast<void>(worker.stop_and_report());
  EXPECT_EQ(record(task).attempts, 1);
  EXPECT_EQ(record(task).data.status, TaskStatus::retrying);
  EXPECT_EQ(record(task).available_at, clock.now() + seconds{1});
}

TEST_F(WorkerOutageTest, SurvivesAKeeperThatReachesNothing) {
  Milestone started;
  Milestone release;
  handle(
      [&](TaskContext& context) {
        context.progress(1, 2);
        started.reach();
        if (!release.was_reached()) throw std::logic_error{"nobody released it"};
        return std::string{"\"done\""};
      },
      "slow");
  for (const Call call : {Call::extend, Call::report_progress}) engine.break_down(call);
  WorkerOptions options;
  options.lease = milliseconds{300};
  const TaskHandle task = submit({}, "slow");
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(started.was_reached());
  EXPECT_TRUE(logger.says("cannot extend leases: the storage is away"));
  EXPECT_TRUE(logger.says("cannot report progress"));
  EXPECT_EQ(engine.calls(Call::rescue), 0U) << "who cannot keep leases does not take others'";
  release.reach();
  EXPECT_EQ(task.get_json(kPatience), "\"done\"");
}

TEST_F(WorkerOutageTest, ProgressThatCouldNotBeStoredIsStoredLater) {
  Milestone seen;
  handle(
      [&](TaskContext& context) {
        context.progress(1, 2, "half");
        if (!seen.was_reached()) throw std::logic_error{"nobody saw it"};
        return std::string{"1"};
      },
      "slow");
  engine.refuse(Call::report_progress);
  WorkerOptions options;
  options.lease = milliseconds{300};
  const TaskHandle task = submit({}, "slow");
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(logger.says("cannot report progress"));
  EXPECT_TRUE(eventually([&] { return task.progress() == Progress{1, 2, "half"}; }));
  seen.reach();
  EXPECT_EQ(task.get_json(kPatience), "1");
}

TEST_F(WorkerOutageTest, AWorkerThatEndsDuringAnOutageGivesUpAfterItsGracePeriod) {
  engine.break_down(Call::settle);
  const TaskHandle task = submit();
  WorkerOptions options = one_at_a_time();
  options.grace = milliseconds{50};
  RunningWorker worker{engine, handlers, options, logger};
  ASSERT_TRUE(logger.says("cannot store 1 outcome"));
  const WorkerReport report = worker.stop_and_report();
  EXPECT_EQ(report.completed, 0);
  engine.mend();
  // Its lease runs out, and others do the work again.
  RunningWorker next{engine, handlers, one_at_a_time()};
  pass(seconds{16});
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(runs, 2);
}

TEST_F(WorkerOutageTest, NothingIsLostAndNothingSettledTwiceWhenCallsFailNowAndThen) {
  const std::int64_t version = version_of_an_undisturbed_task();
  constexpr std::size_t kTasks = 200;
  std::mutex mutex;
  std::map<TaskId, int> runs_of;
  handle(
      [&](TaskContext& context) {
        const std::lock_guard lock{mutex};
        return std::to_string(++runs_of[context.id()]);
      },
      "counted");
  const std::vector<TaskHandle> handles = submit_many(kTasks, "counted");
  for (int i = 0; i < 3; ++i) {
    engine.refuse(Call::claim);
    engine.refuse(Call::settle);
    engine.lose_reply(Call::settle);
    engine.refuse(Call::extend);
    engine.lose_reply(Call::extend);
  }
  WorkerOptions options;
  options.max_prefetch = 10;  // many claims and settlements rather than a few big ones
  RunningWorker worker{engine, handlers, options};
  for (const TaskHandle& task : handles) EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(runs_of.size(), kTasks);
  for (const TaskHandle& task : handles) EXPECT_EQ(record(task).data.version, version);
}

}  // namespace
}  // namespace errand
