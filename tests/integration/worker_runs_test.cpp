#include <atomic>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "integration/worker_fixture.hpp"

namespace errand {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Call;
using ::testing::ElementsAre;
using testing::eventually;
using ::testing::HasSubstr;
using testing::kPatience;
using testing::Milestone;
using testing::RunningWorker;

class WorkerRunsTest : public testing::WorkerTest {};

TEST_F(WorkerRunsTest, RunsTasksAndStoresTheirResults) {
  handlers.add_raw("square", [](const Envelope& envelope, TaskContext&) {
    const int number = std::stoi(envelope.body());
    return std::to_string(number * number);
  });
  std::vector<TaskHandle> handles;
  handles.reserve(200);
  for (int i = 0; i < 100; ++i) handles.push_back(tasks.submit_json("square", std::to_string(i)));
  RunningWorker worker{engine, handlers, {}};
  for (int i = 100; i < 200; ++i) {
    handles.push_back(tasks.submit_json("square", std::to_string(i)));
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(handles[static_cast<std::size_t>(i)].get_json(kPatience), std::to_string(i * i));
  }
  const WorkerReport report = worker.stop_and_report();
  EXPECT_EQ(report.reason, WorkerReport::Reason::stopped);
  EXPECT_EQ(report.completed, 200);
  EXPECT_EQ(report.failed + report.retried + report.cancelled + report.abandoned, 0);
}

TEST_F(WorkerRunsTest, ATaskThatIsAloneIsSettledByItsHandler) {
  std::atomic<std::thread::id> handler;
  handle([&](TaskContext&) {
    handler = std::this_thread::get_id();
    return "1";
  });
  WorkerOptions two;
  two.concurrency = 2;
  RunningWorker worker{engine, handlers, two};
  // The worker may not have forgotten the last one yet, or not know that there are no more.
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(submit().get_json(kPatience), "1");
    return engine.last_caller(Call::settle) == handler.load();
  }));
}

TEST_F(WorkerRunsTest, EachTaskRunsOnceHoweverManyWorkersThereAre) {
  constexpr std::size_t kTasks = 500;
  std::mutex mutex;
  std::multiset<TaskId> runs;
  handle([&](TaskContext& context) {
    const std::lock_guard lock{mutex};
    runs.insert(context.id());
    return std::string{"1"};
  });
  const std::vector<TaskHandle> handles = submit_many(kTasks);
  RunningWorker first{engine, handlers, {}};
  RunningWorker second{*other_process, handlers, {}};
  for (const TaskHandle& task : handles) ASSERT_TRUE(task.wait(kPatience));
  EXPECT_EQ(first.stop_and_report().completed + second.stop_and_report().completed,
            static_cast<std::int64_t>(kTasks));
  EXPECT_EQ(runs.size(), kTasks);
  EXPECT_EQ(std::set<TaskId>(runs.begin(), runs.end()).size(), kTasks);
}

TEST_F(WorkerRunsTest, IsWokenBySubmits) {
  handle([](TaskContext&) { return std::string{"1"}; });
  RunningWorker worker{engine, handlers, {}};
  Tasks elsewhere{*other_process, messages, exceptions};
  const auto start = std::chrono::steady_clock::now();
  constexpr int kTrips = 30;
  for (int i = 0; i < kTrips; ++i) {
    ASSERT_TRUE(elsewhere.submit_json(kType, "1").wait(kPatience));
  }
  // Looking once a second alone would take half a second each, on average.
  EXPECT_LT(std::chrono::steady_clock::now() - start, kTrips * milliseconds{300});
}

TEST_F(WorkerRunsTest, TriesAgainAfterTheWaitsOfThePolicy) {
  std::vector<int> attempts;
  handle([&](TaskContext& context) {
    attempts.push_back(context.attempt());
    if (context.attempt() <= 3) throw std::runtime_error{"not yet"};
    return std::string{"\"at last\""};
  });
  RunningWorker worker{engine, handlers, one_at_a_time()};
  const TaskHandle task = submit();
  for (const seconds wait : {seconds{1}, seconds{5}, seconds{25}}) {
    ASSERT_TRUE(becomes(task, TaskStatus::retrying));
    EXPECT_EQ(record(task).available_at, clock.now() + wait);
    pass(wait - milliseconds{1});
    EXPECT_EQ(
        other_process->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims.size(), 0U)
        << "it must not be due early";
    pass(milliseconds{1});
    ASSERT_TRUE(eventually([&] {
      const TaskRecord now = record(task);
      return now.data.status != TaskStatus::retrying || now.available_at > clock.now();
    }));
  }
  EXPECT_EQ(task.get_json(kPatience), "\"at last\"");
  const WorkerReport report = worker.stop_and_report();
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(report.retried, 3);
  EXPECT_EQ(report.completed, 1);
}

TEST_F(WorkerRunsTest, FailsATaskWhoseRetriesAreUsedUpAndKeepsTheHistory) {
  handle([](TaskContext& context) -> std::string {
    throw std::runtime_error{"failure " + std::to_string(context.attempt())};
  });
  RunningWorker worker{engine, handlers, one_at_a_time()};
  SubmitOptions options;
  options.retry = RetryPolicy{.max_retries = 1, .delay = hours{1}};
  const TaskHandle task = submit(options);
  ASSERT_TRUE(becomes(task, TaskStatus::retrying));
  pass(hours{1});
  try {
    static_cast<void>(task.get_json(kPatience));
    FAIL() << "must throw";
  } catch (const TaskFailedException& error) {
    EXPECT_EQ(error.data().message, "failure 2");
    EXPECT_THAT(error.data().file, HasSubstr("worker_runs_test.cpp"));
  }
  const auto history = parse_json(record(task).history.value()).as_array();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].at("error").at("message").as_string(), "failure 1");
  EXPECT_EQ(history[0].at("worker").as_string(), worker.name());
  EXPECT_EQ(history[1].at("error").at("message").as_string(), "failure 2");
  const WorkerReport report = worker.stop_and_report();
  EXPECT_EQ(report.retried, 1);
  EXPECT_EQ(report.failed, 1);
}

TEST_F(WorkerRunsTest, AHandlerDecidesByWhatItThrows) {
  handle([](TaskContext&) -> std::string { throw Unrecoverable{"never"}; }, "hopeless");
  handle([](TaskContext&) -> std::string { throw RetryLater{hours{7}, "later"}; }, "patient");
  RunningWorker worker{engine, handlers, {}};
  const TaskHandle hopeless = submit({}, "hopeless");
  const TaskHandle patient = submit({}, "patient");
  EXPECT_THROW(static_cast<void>(hopeless.get_json(kPatience)), TaskFailedException);
  EXPECT_EQ(record(hopeless).attempts, 1);
  ASSERT_TRUE(becomes(patient, TaskStatus::retrying));
  EXPECT_EQ(record(patient).available_at, clock.now() + hours{7});
}

TEST_F(WorkerRunsTest, LeavesDelayedTasksUntilTheyAreDue) {
  Milestone ran;
  handle([&](TaskContext&) {
    ran.reach();
    return std::string{"1"};
  });
  RunningWorker worker{engine, handlers, one_at_a_time()};
  SubmitOptions later;
  later.delay = hours{2};
  const TaskHandle delayed = submit(later);
  ASSERT_TRUE(submit().wait(kPatience));
  EXPECT_EQ(ran.times(), 1U);
  EXPECT_EQ(delayed.status(), TaskStatus::pending);
  pass(hours{2});
  EXPECT_TRUE(delayed.wait(kPatience));
}

TEST_F(WorkerRunsTest, ProgressOfARunningTaskIsVisible) {
  Milestone seen;
  handle([&](TaskContext& context) {
    context.progress(3, 10, "third page");
    if (!seen.was_reached()) throw std::logic_error{"nobody saw it"};
    return std::string{"1"};
  });
  RunningWorker worker{engine, handlers, {}};
  const TaskHandle task = submit();
  EXPECT_TRUE(eventually([&] { return task.progress() == Progress{3, 10, "third page"}; }));
  seen.reach();
  EXPECT_EQ(task.get_json(kPatience), "1");
}

TEST_F(WorkerRunsTest, AHandlerMaySubmitTasksAndWaitForThem) {
  handle([](TaskContext&) { return std::string{"20"}; }, "child");
  handle(
      [&](TaskContext&) {
        int sum = 0;
        for (int i = 0; i < 5; ++i) {
          sum += std::stoi(tasks.submit_json("child", "1").get_json(kPatience));
        }
        return std::to_string(sum);
      },
      "parent");
  WorkerOptions options;
  options.concurrency = 2;
  RunningWorker worker{engine, handlers, options};
  EXPECT_EQ(submit({}, "parent").get_json(kPatience), "100");
}

TEST_F(WorkerRunsTest, ServesEarlierQueuesFirst) {
  std::vector<std::string> order;
  handlers.add_raw("note", [&](const Envelope& envelope, TaskContext&) {
    order.push_back(envelope.body());
    return std::string{"1"};
  });
  SubmitOptions bulk;
  bulk.queue = "bulk";
  SubmitOptions urgent;
  urgent.queue = "urgent";
  tasks.submit_json("note", "1", bulk);
  tasks.submit_json("note", "2", urgent);
  tasks.submit_json("note", "3", urgent);
  WorkerOptions options = one_at_a_time();
  options.queues = {"urgent", "bulk"};
  options.drain = true;
  RunningWorker worker{engine, handlers, options};
  EXPECT_EQ(worker.report().completed, 3);
  EXPECT_THAT(order, ElementsAre("2", "3", "1"));
}

TEST_F(WorkerRunsTest, ShowsItselfWhileItRunsAndNoLonger) {
  Milestone started;
  Milestone release;
  handle([&](TaskContext&) {
    started.reach();
    if (!release.was_reached()) throw std::logic_error{"nobody released it"};
    return std::string{"1"};
  });
  WorkerOptions options;
  options.concurrency = 3;
  options.queues = {"mail", kDefaultQueue};
  options.lease = milliseconds{300};  // it shows itself every third of it
  RunningWorker worker{engine, handlers, options};
  const TaskHandle task = submit();
  ASSERT_TRUE(started.was_reached());
  ASSERT_TRUE(eventually([&] {
    const auto workers = other_process->workers().workers();
    return workers.size() == 1 && workers.front().running == 1;
  }));
  const WorkerInfo info = other_process->workers().workers().front();
  EXPECT_EQ(info.worker, worker.name());
  EXPECT_THAT(info.queues, ElementsAre("mail", kDefaultQueue));
  EXPECT_EQ(info.concurrency, 3);
  EXPECT_EQ(info.pid, getpid());
  EXPECT_EQ(info.handled, 0);
  release.reach();
  ASSERT_TRUE(task.wait(kPatience));
  EXPECT_TRUE(eventually([&] {
    const auto workers = other_process->workers().workers();
    return workers.size() == 1 && workers.front().handled == 1 && workers.front().running == 0;
  }));
  static_cast<void>(worker.stop_and_report());
  EXPECT_TRUE(other_process->workers().workers().empty());
}

TEST_F(WorkerRunsTest, DoesNotLookForMoreAfterATaskThatWasTheLast) {
  handle([](TaskContext&) { return std::string{"1"}; });
  RunningWorker worker{engine, handlers, {}, logger};
  ASSERT_TRUE(engine.was_called(Call::claim));
  const TaskHandle task = submit();
  EXPECT_EQ(task.get_json(kPatience), "1");
  const std::size_t claims = engine.calls(Call::claim);
  ASSERT_TRUE(engine.was_called(Call::claim, claims + 1)) << "it looks all the same, once a second";
  EXPECT_LE(claims, 4U) << "at the start, and when it is told; not when a handler is free";
}

}  // namespace
}  // namespace errand
