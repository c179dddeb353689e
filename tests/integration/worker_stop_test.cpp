#include <atomic>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "errand/errors.hpp"

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::eventually;
using testing::kPatience;
using testing::Milestone;
using testing::RunningWorker;
using Reason = WorkerReport::Reason;

class WorkerStopTest : public testing::WorkerTest {
 protected:
  /// A handler that waits until it is asked to stop.
  static void wait_for_stop(TaskContext& context) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock{mutex};
    never.wait_for(lock, context.stop_token(), kPatience, [] { return false; });
    context.throw_if_stopped();
    throw std::logic_error{"nobody asked it to stop"};
  }

  Milestone started;
  Milestone release;
};

TEST_F(WorkerStopTest, FinishesWhatRunsAndClaimsNoMore) {
  handle([&](TaskContext& context) {
    started.reach();
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    EXPECT_FALSE(context.stop_token().stop_requested()) << "it has its grace period";
    return std::string{"\"finished\""};
  });
  const TaskHandle running = submit();
  RunningWorker worker{engine, handlers, one_at_a_time()};
  ASSERT_TRUE(started.was_reached());
  worker.stop();
  const TaskHandle late = submit();
  release.reach();
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::stopped);
  EXPECT_EQ(report.completed, 1);
  EXPECT_EQ(report.abandoned, 0);
  EXPECT_EQ(running.get_json(), "\"finished\"");
  EXPECT_EQ(late.status(), TaskStatus::pending);
}

TEST_F(WorkerStopTest, HandsBackWhatItHasNotStarted) {
  // The first task is quick, so that the worker fetches the others at once.
  handle([](TaskContext&) { return std::string{"1"}; }, "quick");
  handle([&](TaskContext&) {
    started.reach();
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    return std::string{"1"};
  });
  RunningWorker worker{engine, handlers, one_at_a_time()};
  ASSERT_TRUE(submit({}, "quick").wait(kPatience));
  const auto batch = [] {
    std::vector<NewTask> all;
    all.reserve(5);
    for (int i = 0; i < 5; ++i) all.push_back(NewTask{.envelope = Envelope{kType, "1"}});
    return all;
  }();
  tasks.submit_batch(batch);
  ASSERT_TRUE(started.was_reached());
  worker.stop();
  const auto running = [&] { return engine.catalog().stats().queues.at(0).running; };
  EXPECT_TRUE(eventually([&] { return running() == 1; })) << "while the one that runs goes on";
  release.reach();
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.completed, 2) << "the quick one and the one that ran";
  int waiting = 0;
  for (const NewTask& task : batch) {
    const TaskRecord after = record(tasks.find<void>(task.id));
    if (!is_waiting(after.data.status)) continue;
    ++waiting;
    EXPECT_EQ(after.attempts, 0) << "no attempt is spent";
    EXPECT_EQ(after.crashes, 0);
  }
  EXPECT_EQ(waiting, 4);
}

TEST_F(WorkerStopTest, AfterTheGracePeriodHandlersAreAskedAndTheirTasksHandedBack) {
  std::vector<int> attempts;
  handle([&](TaskContext& context) -> std::string {
    attempts.push_back(context.attempt());
    started.reach();
    if (attempts.size() > 1) return "\"second\"";
    wait_for_stop(context);
    return "";
  });
  const TaskHandle task = submit();
  WorkerOptions options = one_at_a_time();
  options.grace = milliseconds{20};
  {
    RunningWorker worker{engine, handlers, options, logger};
    ASSERT_TRUE(started.was_reached());
    const WorkerReport report = worker.stop_and_report();
    EXPECT_EQ(report.released, 1);
    EXPECT_EQ(report.abandoned, 0);
    EXPECT_TRUE(logger.says("the grace period is over"));
  }
  const TaskRecord handed_back = record(task);
  EXPECT_EQ(handed_back.data.status, TaskStatus::retrying);
  EXPECT_EQ(handed_back.attempts, 0);
  EXPECT_EQ(handed_back.crashes, 0);
  EXPECT_EQ(handed_back.available_at, clock.now()) << "others may have it at once";

  RunningWorker next{engine, handlers, one_at_a_time()};
  EXPECT_EQ(task.get_json(kPatience), "\"second\"");
  EXPECT_EQ(attempts, (std::vector{1, 1})) << "the attempt was not spent";
}

TEST_F(WorkerStopTest, HandlersThatIgnoreTheStopAreAbandonedAndTheirTasksHandedBack) {
  std::atomic<int> runs = 0;
  handle([&](TaskContext&) -> std::string {
    const int run = ++runs;
    started.reach();
    if (run > 1) return "\"second\"";
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    return "\"first\"";
  });
  const TaskHandle task = submit();
  WorkerOptions options = one_at_a_time();
  options.grace = milliseconds{0};
  {
    RunningWorker stubborn{engine, handlers, options, logger};
    ASSERT_TRUE(started.was_reached());
    const WorkerReport report = stubborn.stop_and_report();
    EXPECT_EQ(report.abandoned, 1);
    EXPECT_EQ(report.released, 1);
    EXPECT_EQ(record(task).data.status, TaskStatus::retrying);
    EXPECT_EQ(record(task).attempts, 0);

    RunningWorker next{engine, handlers, one_at_a_time()};
    EXPECT_EQ(task.get_json(kPatience), "\"second\"");
    release.reach();
  }
  EXPECT_EQ(task.get_json(kPatience), "\"second\"") << "what the abandoned one returned is dropped";
  EXPECT_EQ(runs, 2);
}

TEST_F(WorkerStopTest, ATaskThatWasToBeCancelledIsCancelledRatherThanHandedBack) {
  handle([&](TaskContext& context) -> std::string {
    started.reach();
    wait_for_stop(context);
    return "";
  });
  const TaskHandle task = submit();
  WorkerOptions options = one_at_a_time();
  options.grace = milliseconds{0};
  options.lease = hours{1};
  engine.break_down(testing::Call::extend);  // the request to cancel does not reach the handler
  RunningWorker worker{engine, handlers, options};
  ASSERT_TRUE(started.was_reached());
  EXPECT_EQ(task.cancel(), CancelStatus::requested);
  static_cast<void>(worker.stop_and_report());
  EXPECT_EQ(task.status(), TaskStatus::cancelled);
}

TEST_F(WorkerStopTest, AStopThatCameBeforeTheStartEndsItWithoutAClaim) {
  handle([](TaskContext&) { return std::string{"1"}; });
  const TaskHandle task = submit();
  Worker worker{engine, handlers, one_at_a_time()};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(worker.run(stop.get_token()).reason, Reason::stopped);
  EXPECT_EQ(task.status(), TaskStatus::pending);
}

}  // namespace
}  // namespace errand
