#include <atomic>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Call;
using testing::eventually;
using testing::kPatience;
using testing::Milestone;
using testing::RunningWorker;

/// Short, so that the worker extends it every tenth of a second of real time.
constexpr milliseconds kLease{300};

class WorkerLeasesTest : public testing::WorkerTest {
 protected:
  /// Waits for a stop; false: none came.
  static bool is_stopped(const TaskContext& context) {
    Milestone stopped;
    const std::stop_callback callback{context.stop_token(), [&] { stopped.reach(); }};
    return stopped.was_reached();
  }

  static WorkerOptions with_lease(std::chrono::milliseconds lease) {
    WorkerOptions options = one_at_a_time();
    options.lease = lease;
    return options;
  }

  void handle_until_stopped() {
    handle([this](TaskContext& context) -> std::string {
      started.reach();
      if (!is_stopped(context)) throw std::logic_error{"the request did not arrive"};
      throw Cancelled{};
    });
  }

  Milestone started;
  Milestone release;
};

TEST_F(WorkerLeasesTest, ACancellationReachesTheHandlerBySignal) {
  handle_until_stopped();
  // Extended every eight hours: a request found then would be found too late for this test.
  RunningWorker worker{engine, handlers, with_lease(hours{24})};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  EXPECT_EQ(task.cancel(), CancelStatus::requested);
  EXPECT_THROW(static_cast<void>(task.get_json(kPatience)), TaskCancelledException);
  EXPECT_EQ(worker.stop_and_report().cancelled, 1);
}

TEST_F(WorkerLeasesTest, ACancellationByAnotherProcessReachesTheHandlerBySignal) {
  handle_until_stopped();
  RunningWorker worker{engine, handlers, with_lease(hours{24})};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  Tasks elsewhere{*other_process, messages, exceptions};
  EXPECT_EQ(elsewhere.find<void>(task.id()).cancel(), CancelStatus::requested);
  EXPECT_THROW(static_cast<void>(task.get_json(kPatience)), TaskCancelledException);
}

TEST_F(WorkerLeasesTest, ACancellationReachesTheHandlerAlthoughItsLeaseCouldNotBeExtendedAtOnce) {
  handle_until_stopped();
  RunningWorker worker{engine, handlers, with_lease(hours{24})};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  engine.refuse(Call::extend);
  EXPECT_EQ(task.cancel(), CancelStatus::requested);
  EXPECT_THROW(static_cast<void>(task.get_json(kPatience)), TaskCancelledException);
}

TEST_F(WorkerLeasesTest, AHandlerMayIgnoreACancellation) {
  handle([&](TaskContext& context) -> std::string {
    started.reach();
    return is_stopped(context) ? "\"done all the same\"" : "\"not asked\"";
  });
  RunningWorker worker{engine, handlers, with_lease(hours{24})};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  EXPECT_EQ(task.cancel(), CancelStatus::requested);
  EXPECT_EQ(task.get_json(kPatience), "\"done all the same\"");
}

TEST_F(WorkerLeasesTest, ALongTaskKeepsItsLease) {
  std::atomic<int> runs = 0;
  handle([&](TaskContext&) {
    ++runs;
    started.reach();
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    return std::string{"1"};
  });
  RunningWorker worker{engine, handlers, with_lease(kLease)};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  for (int i = 0; i < 6; ++i) {
    clock.advance(kLease - milliseconds{1});
    EXPECT_TRUE(other_process->queue().rescue({}).empty()) << "round " << i;
    // The second call from now began when the first one was done.
    ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 2));
  }
  release.reach();
  EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(record(task).crashes, 0);
}

TEST_F(WorkerLeasesTest, AWorkerThatLostATaskStopsItsHandlerAndDropsItsOutcome) {
  handle([&](TaskContext& context) -> std::string {
    started.reach();
    return is_stopped(context) ? "\"the zombie's\"" : "\"not asked\"";
  });
  RunningWorker worker{engine, handlers, with_lease(kLease), logger};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  // The worker is cut off while its lease runs out, and another one does its work.
  engine.break_down(Call::extend);
  engine.break_down(Call::rescue);
  ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 2));
  clock.advance(kLease + milliseconds{1});
  ASSERT_EQ(other_process->queue().rescue({}).size(), 1U);
  const auto claims =
      other_process->queue().claim({.queues = {kDefaultQueue}, .worker = "successor"}).claims;
  ASSERT_EQ(claims.size(), 1U);
  const Settlement settlement{claims.front().lease, Completed{"\"the successor's\""}};
  ASSERT_EQ(other_process->queue().settle({&settlement, 1}).front(), SettleStatus::settled);
  const TaskRecord before = record(task);

  engine.mend();
  ASSERT_TRUE(logger.says("taken over"));
  const WorkerReport report = worker.stop_and_report();
  EXPECT_EQ(report.completed, 0);
  EXPECT_EQ(report.abandoned, 0);
  EXPECT_EQ(task.get_json(), "\"the successor's\"");
  EXPECT_EQ(record(task).data, before.data);
}

TEST_F(WorkerLeasesTest, AnOutcomeThatComesTooLateIsDropped) {
  handle([&](TaskContext&) -> std::string {
    started.reach();
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    return "\"the zombie's\"";
  });
  RunningWorker worker{engine, handlers, with_lease(kLease), logger};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  engine.break_down(Call::extend);
  engine.break_down(Call::rescue);
  ASSERT_TRUE(engine.was_called(Call::extend, engine.calls(Call::extend) + 2));
  clock.advance(kLease + milliseconds{1});
  ASSERT_EQ(other_process->queue().rescue({}).size(), 1U);
  const auto claims =
      other_process->queue().claim({.queues = {kDefaultQueue}, .worker = "successor"}).claims;
  ASSERT_EQ(claims.size(), 1U);
  // The successor still works on it.
  release.reach();
  ASSERT_TRUE(logger.says("this attempt's outcome is dropped"));
  EXPECT_EQ(worker.stop_and_report().completed, 0);
  EXPECT_EQ(task.status(), TaskStatus::running);
  const Settlement settlement{claims.front().lease, Completed{"\"the successor's\""}};
  EXPECT_EQ(other_process->queue().settle({&settlement, 1}).front(), SettleStatus::settled);
  EXPECT_EQ(task.get_json(), "\"the successor's\"");
}

TEST_F(WorkerLeasesTest, RunsTheTasksOfAWorkerThatDied) {
  handle([](TaskContext& context) { return std::to_string(context.attempt()); });
  const TaskHandle task = submit();
  lose_with_a_worker();
  RunningWorker worker{engine, handlers, one_at_a_time(), logger};
  pass(seconds{16});
  EXPECT_EQ(task.get_json(kPatience), "1") << "the lost attempt was given back";
  EXPECT_EQ(record(task).crashes, 1);
  EXPECT_TRUE(logger.says("was lost by worker dead"));
}

TEST_F(WorkerLeasesTest, TellsInOneLineOfAllThatAWorkerLost) {
  handle([](TaskContext&) { return std::string{"1"}; });
  const std::vector<TaskHandle> lost = submit_many(3);
  lose_with_a_worker();
  RunningWorker worker{engine, handlers, one_at_a_time(), logger};
  pass(seconds{16});
  for (const TaskHandle& task : lost) EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_TRUE(logger.says("3 tasks were lost by worker dead and are retrying now"));
}

TEST_F(WorkerLeasesTest, ATaskThatLosesItsLastWorkerFails) {
  Milestone ran;
  handle([&](TaskContext&) {
    ran.reach();
    return std::string{"1"};
  });
  const TaskHandle task = submit();
  WorkerOptions options = one_at_a_time();
  options.max_crashes = 1;
  lose_with_a_worker();
  RunningWorker worker{engine, handlers, options};
  pass(seconds{16});
  try {
    static_cast<void>(task.get_json(kPatience));
    FAIL() << "must throw";
  } catch (const TaskFailedException& error) {
    EXPECT_EQ(error.data().class_name, "errand::WorkerLost");
  }
  EXPECT_EQ(ran.times(), 0U);
}

TEST_F(WorkerLeasesTest, SuspectsRunOneAtATimeWhileOthersFlow) {
  std::atomic<int> suspects_running = 0;
  std::atomic<int> most = 0;
  handle([](TaskContext&) { return std::string{"1"}; }, "innocent");
  handle([&](TaskContext&) {
    const int now = ++suspects_running;
    most = std::max(most.load(), now);
    // When this one is done the worker has claimed again, and could have taken a suspect.
    std::string result = submit({}, "innocent").get_json(kPatience);
    --suspects_running;
    return result;
  });
  const std::vector<TaskHandle> suspects = submit_many(4);
  for (int crash = 0; crash < kSuspectCrashes; ++crash) {
    lose_with_a_worker();
    clock.advance(seconds{16});
    ASSERT_EQ(other_process->queue().rescue({}).size(), 4U);
  }
  WorkerOptions options;
  options.concurrency = 4;
  RunningWorker worker{engine, handlers, options};
  for (const TaskHandle& task : suspects) EXPECT_EQ(task.get_json(kPatience), "1");
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace errand
