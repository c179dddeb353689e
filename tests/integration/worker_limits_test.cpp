#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::RunningWorker;
using Reason = WorkerReport::Reason;

class WorkerLimitsTest : public testing::WorkerTest {
 protected:
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
  handle([](TaskContext&) -> std::string { throw std::runtime_error{"no"}; });
  submit_many(2);
  WorkerOptions options = one_at_a_time();
  options.failure_limit = 2;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::failure_limit);
  EXPECT_EQ(report.retried, 2);
}

TEST_F(WorkerLimitsTest, AtTheLimitOfFailuresNothingIsStartedAnyMore) {
  handle([](TaskContext&) -> std::string { throw std::runtime_error{"no"}; });
  submit_many(200);
  WorkerOptions options;
  options.concurrency = 2;
  options.failure_limit = 5;
  RunningWorker worker{engine, handlers, options};
  const WorkerReport report = worker.report();
  EXPECT_EQ(report.reason, Reason::failure_limit);
  EXPECT_GE(report.retried, 5);
  EXPECT_LE(report.retried, 6) << "the other handler may have been at work";
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
