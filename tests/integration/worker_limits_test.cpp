#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::Milestone;
using testing::RunningWorker;
using Reason = WorkerReport::Reason;

class WorkerLimitsTest : public testing::WorkerTest {
 protected:
  std::vector<TaskHandle> submit_many(int count) {
    std::vector<TaskHandle> handles;
    for (int i = 0; i < count; ++i) handles.push_back(submit());
    return handles;
  }

  static int count(const std::vector<TaskHandle>& handles, TaskStatus status) {
    int found = 0;
    for (const TaskHandle& task : handles) found += task.status() == status ? 1 : 0;
    return found;
  }
};

TEST_F(WorkerLimitsTest, StopsAfterSoManyAttemptsAndClaimsNoMore) {
  handle([](TaskContext&) { return std::string{"1"}; });
  const auto handles = submit_many(20);
  WorkerOptions options;
  options.concurrency = 2;
  options.limit = 7;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::limit);
  EXPECT_EQ(report.completed, 7);
  EXPECT_EQ(report.released, 0);
  EXPECT_EQ(count(handles, TaskStatus::completed), 7);
  EXPECT_EQ(count(handles, TaskStatus::pending), 13);
}

TEST_F(WorkerLimitsTest, FailedAttemptsCountForTheLimitToo) {
  handle([](TaskContext&) -> std::string { throw std::runtime_error{"no"}; });
  submit_many(3);
  WorkerOptions options = one_at_a_time();
  options.limit = 2;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::limit);
  EXPECT_EQ(report.retried, 2);
}

TEST_F(WorkerLimitsTest, StopsAfterSoManyFailures) {
  // Others run after the failures: they must not be needed for the worker to notice.
  handle([&](TaskContext&) -> std::string { throw std::runtime_error{"no"}; });
  submit_many(2);
  WorkerOptions options = one_at_a_time();
  options.failure_limit = 2;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::failure_limit);
  EXPECT_EQ(report.retried, 2);
}

TEST_F(WorkerLimitsTest, SuccessesAreNoFailures) {
  handle([](TaskContext&) { return std::string{"1"}; });
  submit_many(5);
  WorkerOptions options;
  options.failure_limit = 1;
  options.drain = true;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::drained);
  EXPECT_EQ(report.completed, 5);
}

TEST_F(WorkerLimitsTest, StopsAfterItsTime) {
  WorkerOptions options;
  options.time_limit = milliseconds{50};
  RunningWorker worker{engine, handlers, options};
  EXPECT_EQ(worker.report().reason, Reason::time_limit);
}

TEST_F(WorkerLimitsTest, ATaskThatRunsWhenTheTimeIsOverMayFinish) {
  Milestone started;
  handle([&](TaskContext&) {
    started.reach();
    // It says so once the time is over and it asks nobody to stop: only the end of the fetcher is
    // certain by then.
    std::this_thread::sleep_for(milliseconds{150});
    return std::string{"1"};
  });
  const TaskHandle task = submit();
  WorkerOptions options;
  options.time_limit = milliseconds{100};
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::time_limit);
  EXPECT_EQ(static_cast<std::size_t>(report.completed), started.times());
  EXPECT_EQ(task.status(), TaskStatus::completed);
}

TEST_F(WorkerLimitsTest, StopsAboveItsMemory) {
  WorkerOptions options;
  options.memory_limit = 1;
  RunningWorker worker{engine, handlers, options};
  EXPECT_EQ(worker.report().reason, Reason::memory_limit);
}

TEST_F(WorkerLimitsTest, DrainRunsAllThatIsDueAndWhatThatSubmits) {
  handle([](TaskContext&) { return std::string{"1"}; }, "child");
  handle([&](TaskContext&) {
    submit({}, "child");
    return std::string{"1"};
  });
  submit_many(20);
  SubmitOptions later;
  later.delay = hours{1};
  const TaskHandle delayed = submit(later);
  WorkerOptions options;
  options.drain = true;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::drained);
  EXPECT_EQ(report.completed, 40);
  EXPECT_EQ(delayed.status(), TaskStatus::pending);
}

TEST_F(WorkerLimitsTest, DrainDoesNotWaitForRetries) {
  handle([](TaskContext&) -> std::string { throw std::runtime_error{"no"}; });
  const TaskHandle task = submit();
  WorkerOptions options;
  options.drain = true;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::drained);
  EXPECT_EQ(report.retried, 1);
  EXPECT_EQ(task.status(), TaskStatus::retrying);
}

TEST_F(WorkerLimitsTest, DrainOfNothingEndsAtOnce) {
  WorkerOptions options;
  options.drain = true;
  RunningWorker worker{engine, handlers, options};
  EXPECT_EQ(worker.report().reason, Reason::drained);
}

}  // namespace
}  // namespace errand
