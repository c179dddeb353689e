#pragma once

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "errand/engine.hpp"
#include "errand/testing/engine_under_test.hpp"
#include "errand/testing/printing.hpp"

namespace errand::testing {

/// Numbers of tasks and rounds are for plain builds; sanitizers make each of them cost ten times
/// as much.
[[nodiscard]] constexpr std::size_t scaled(std::size_t number) noexcept {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return std::max<std::size_t>(number / 8, 1);
#else
  return number;
#endif
}

/// A lease that does not run out by itself, whatever drift() is.
inline constexpr std::chrono::hours kLease{1};
inline constexpr std::chrono::milliseconds kInstant{1};

[[nodiscard]] inline NewTask new_task(std::string queue = kDefaultQueue, int priority = 0,
                                      std::chrono::milliseconds delay = {}) {
  return NewTask{TaskId::generate(), Envelope{"contract.task", R"({"n":1})"},
                 std::move(queue),   delay,
                 priority,           RetryPolicy{}};
}

[[nodiscard]] inline NewTask new_task_with_body(std::string body) {
  NewTask task = new_task();
  task.envelope = Envelope{"contract.task", std::move(body)};
  return task;
}

[[nodiscard]] inline NewTask new_task_of_type(std::string type, std::string queue = kDefaultQueue) {
  NewTask task = new_task(std::move(queue));
  task.envelope = Envelope{std::move(type), R"({"n":1})"};
  return task;
}

[[nodiscard]] inline ClaimRequest claim_request(std::size_t limit,
                                                std::vector<std::string> queues = {kDefaultQueue}) {
  ClaimRequest request;
  request.queues = std::move(queues);
  request.limit = limit;
  request.worker = "worker-1";
  request.lease = kLease;
  return request;
}

[[nodiscard]] inline ExceptionData error_named(std::string class_name,
                                               std::string message = "it broke") {
  ExceptionData error;
  error.class_name = std::move(class_name);
  error.message = std::move(message);
  return error;
}

/// A valid record that was never stored, in that status, submitted a minute before `now`.
[[nodiscard]] inline TaskData record_in(TaskStatus status, Timestamp now) {
  using std::chrono::seconds;
  TaskData task = TaskData::pending(TaskId::generate(), R"({"n":1})", now - seconds{60});
  if (status == TaskStatus::pending) return task;
  if (status == TaskStatus::cancelled) {
    task.cancel(now - seconds{30});
    return task;
  }
  task.start(now - seconds{50});
  if (status == TaskStatus::retrying) task.retry();
  if (status == TaskStatus::completed) task.complete(R"({"ok":true})", now - seconds{30});
  if (status == TaskStatus::failed) {
    task.fail(to_json(error_named("std::runtime_error")), now - seconds{30});
  }
  return task;
}

/// What every suite stands on: a storage of its own and the few steps that most tests begin with.
/// A step that cannot be taken throws, which fails the test.
class EngineContract : public ::testing::TestWithParam<EngineFactory> {
 protected:
  EngineContract() : under_test_{GetParam().make()} {}

  [[nodiscard]] EngineUnderTest& under_test() noexcept { return *under_test_; }

  /// Opened at the first use, so that tests can fork before.
  [[nodiscard]] Engine& engine() {
    if (!engine_) engine_ = under_test_->open();
    return *engine_;
  }
  [[nodiscard]] TaskStorage& storage() { return engine().storage(); }
  [[nodiscard]] TaskQueue& queue() { return engine().queue(); }
  [[nodiscard]] TaskCatalog& catalog() { return engine().catalog(); }
  [[nodiscard]] WorkerRegistry& workers() { return engine().workers(); }

  /// Stands for another process.
  [[nodiscard]] std::unique_ptr<Engine> open_another() { return under_test_->open(); }
  void reopen() {
    engine_.reset();
    engine_ = under_test_->open();
  }

  void pass(std::chrono::milliseconds time) { under_test_->pass_time(time); }
  [[nodiscard]] Timestamp now() { return under_test_->now(); }
  [[nodiscard]] std::chrono::milliseconds drift() const { return under_test_->drift(); }

  [[nodiscard]] ::testing::AssertionResult is_about(std::optional<Timestamp> actual,
                                                    Timestamp expected) const {
    if (!actual) return ::testing::AssertionFailure() << "there is no time";
    if (std::chrono::abs(*actual - expected) <= drift()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << to_iso8601(*actual) << " is not " << to_iso8601(expected);
  }

  TaskId submit(const NewTask& task = new_task()) { return submit(engine(), task); }
  static TaskId submit(Engine& engine, const NewTask& task = new_task()) {
    engine.queue().submit({&task, 1});
    return task.id;
  }

  /// Pending tasks, submitted in one batch.
  std::vector<TaskId> submit_many(std::size_t count, const std::string& to = kDefaultQueue) {
    std::vector<NewTask> tasks;
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      tasks.push_back(new_task(to));
      ids.push_back(tasks.back().id);
    }
    queue().submit(tasks);
    return ids;
  }

  [[nodiscard]] std::vector<Claim> claim(std::size_t limit,
                                         std::vector<std::string> queues = {kDefaultQueue}) {
    return queue().claim(claim_request(limit, std::move(queues))).claims;
  }

  [[nodiscard]] Claim claim_one(const std::string& from = kDefaultQueue,
                                std::chrono::milliseconds lease = kLease) {
    ClaimRequest request = claim_request(1, {from});
    request.lease = lease;
    ClaimBatch batch = queue().claim(request);
    if (batch.claims.size() != 1) throw std::runtime_error{"no task to claim in " + from};
    return std::move(batch.claims.front());
  }

  [[nodiscard]] Claim submit_and_claim(const NewTask& task = new_task()) {
    submit(task);
    Claim claim = claim_one(task.queue);
    if (claim.lease.id != task.id) throw std::runtime_error{"another task was claimed"};
    return claim;
  }

  SettleStatus settle(const Lease& lease, Outcome outcome) {
    const Settlement settlement{lease, std::move(outcome)};
    const std::vector<SettleStatus> statuses = queue().settle({&settlement, 1});
    if (statuses.size() != 1) throw std::runtime_error{"settle gave not one status for one lease"};
    return statuses.front();
  }

  CancelStatus cancel(TaskId id) {
    const std::vector<CancelStatus> statuses = queue().cancel({&id, 1});
    if (statuses.size() != 1) throw std::runtime_error{"cancel gave not one status for one id"};
    return statuses.front();
  }

  void pause(const std::string& name) { queue().pause({&name, 1}); }
  void resume(const std::string& name) { queue().resume({&name, 1}); }

  LeaseState extend(const Lease& lease, std::chrono::milliseconds by = kLease) {
    const std::vector<LeaseState> states = queue().extend({&lease, 1}, by);
    if (states.size() != 1) throw std::runtime_error{"extend gave not one state for one lease"};
    return states.front();
  }

  std::vector<Rescued> rescue(int max_crashes = 3) {
    return queue().rescue(RescueRequest{1000, max_crashes});
  }

  /// Claims `id`, the next one of its queue, and lets its worker die.
  void crash_worker_of(TaskId id, const std::string& in = kDefaultQueue) {
    if (claim_one(in).lease.id != id) throw std::runtime_error{"another task was claimed"};
    pass(kLease + kInstant);
    if (rescue().size() != 1) throw std::runtime_error{"not one task was rescued"};
  }

  /// Submits tasks that lose so many workers that they are suspects. The queue must have no others
  /// that are due.
  void submit_suspects(const std::vector<NewTask>& tasks, const std::string& to = kDefaultQueue) {
    queue().submit(tasks);
    for (int crash = 0; crash < kSuspectCrashes; ++crash) {
      if (claim(tasks.size() + 1, {to}).size() != tasks.size()) {
        throw std::runtime_error{"not exactly the tasks just submitted were claimed"};
      }
      pass(kLease + kInstant);
      if (rescue(kSuspectCrashes + 1).size() != tasks.size()) {
        throw std::runtime_error{"not all of them were rescued"};
      }
    }
  }

  /// Submits a task and moves it to that status; due retries wait an hour. Its queue must have no
  /// other task that is due.
  TaskId task_in(TaskStatus status, const NewTask& task = new_task()) {
    using std::chrono::hours;
    submit(task);
    if (status == TaskStatus::pending) return task.id;
    if (status == TaskStatus::cancelled) {
      cancel(task.id);
      return task.id;
    }
    const Claim claim = claim_one(task.queue);
    if (claim.lease.id != task.id) throw std::runtime_error{"another task was claimed"};
    const ExceptionData error = error_named("std::runtime_error");
    if (status == TaskStatus::completed) settle(claim.lease, Completed{R"({"ok":true})"});
    if (status == TaskStatus::failed) settle(claim.lease, Failed{error});
    if (status == TaskStatus::retrying) settle(claim.lease, Retried{error, hours{1}});
    return task.id;
  }

  [[nodiscard]] TaskRecord record(TaskId id) {
    std::optional<TaskRecord> found = catalog().find(id);
    if (!found) throw std::runtime_error{"no task " + id.to_string() + " in the catalog"};
    return *std::move(found);
  }
  [[nodiscard]] TaskStatus status(TaskId id) { return record(id).data.status; }
  [[nodiscard]] std::int64_t version(TaskId id) { return record(id).data.version.value(); }

  [[nodiscard]] boost::json::array history(TaskId id) {
    const std::optional<std::string> text = record(id).history;
    return text ? boost::json::parse(*text).as_array() : boost::json::array{};
  }

  /// All tasks there are, expired ones too.
  [[nodiscard]] std::int64_t task_count() { return catalog().list({}, {}).total; }

 private:
  std::unique_ptr<EngineUnderTest> under_test_;
  std::unique_ptr<Engine> engine_;
};

[[nodiscard]] inline std::vector<TaskId> ids_of(const std::vector<Claim>& claims) {
  std::vector<TaskId> ids;
  for (const Claim& claim : claims) ids.push_back(claim.lease.id);
  return ids;
}

}  // namespace errand::testing
