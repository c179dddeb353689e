#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "errand/task_queue.hpp"

namespace errand::testing {

/// The methods of TaskQueue.
enum class Call : std::uint8_t {
  submit,
  claim,
  extend,
  held_by,
  settle,
  report_progress,
  cancel,
  rescue,
  requeue,
  discard,
  finished,
  pause,
  resume,
};
inline constexpr std::size_t kCalls = 13;

/// Passes every call on. For tests that watch or disturb a queue: before() and after() surround
/// each call, and may throw.
class ForwardingQueue : public TaskQueue {
 public:
  explicit ForwardingQueue(TaskQueue* next) : next_{next} {}

  void adopt(std::span<const NewTask> tasks) override {
    around(Call::submit, [&] { next_->adopt(tasks); });
  }
  std::size_t submit(std::span<const NewTask> tasks) override {
    return around(Call::submit, [&] { return next_->submit(tasks); });
  }
  std::size_t submits_at_a_time() const noexcept override {
    return next_ == nullptr ? 1 : next_->submits_at_a_time();
  }
  ClaimBatch claim(const ClaimRequest& request) override {
    return around(Call::claim, [&] { return next_->claim(request); });
  }
  Subscription stand_by(const std::string& worker, Taker taker) override {
    return next_ == nullptr ? Subscription{} : next_->stand_by(worker, std::move(taker));
  }
  std::vector<LeaseState> extend(std::span<const Lease> leases,
                                 std::chrono::milliseconds lease) override {
    return around(Call::extend, [&] { return next_->extend(leases, lease); });
  }
  std::vector<Lease> held_by(const std::string& worker) override {
    return around(Call::held_by, [&] { return next_->held_by(worker); });
  }
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override {
    return around(Call::settle, [&] { return next_->settle(settlements); });
  }
  void report_progress(std::span<const ProgressReport> reports) override {
    around(Call::report_progress, [&] { next_->report_progress(reports); });
  }
  std::vector<CancelStatus> cancel(std::span<const TaskId> ids) override {
    return around(Call::cancel, [&] { return next_->cancel(ids); });
  }
  std::vector<Rescued> rescue(const RescueRequest& request) override {
    return around(Call::rescue, [&] { return next_->rescue(request); });
  }
  std::size_t requeue(std::span<const TaskId> ids) override {
    return around(Call::requeue, [&] { return next_->requeue(ids); });
  }
  std::size_t discard(std::span<const TaskId> ids) override {
    return around(Call::discard, [&] { return next_->discard(ids); });
  }
  std::vector<Finish> finished(std::span<const TaskId> ids) override {
    return around(Call::finished, [&] { return next_->finished(ids); });
  }
  void pause(std::span<const std::string> queues) override {
    around(Call::pause, [&] { next_->pause(queues); });
  }
  void resume(std::span<const std::string> queues) override {
    around(Call::resume, [&] { next_->resume(queues); });
  }

 protected:
  virtual void before(Call /*call*/) {}
  virtual void after(Call /*call*/) {}

 private:
  template <class Body>
  std::invoke_result_t<Body> around(Call call, Body&& body) {
    before(call);
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      after(call);
    } else {
      auto result = body();
      after(call);
      return result;
    }
  }

  TaskQueue* next_;
};

}  // namespace errand::testing
