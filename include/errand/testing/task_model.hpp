#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "errand/task_queue.hpp"
#include "errand/task_status.hpp"

namespace errand::testing {

/// What TaskQueue promises, as a plain map: the simplest engine there is, to compare others with.
///
/// It goes by a clock of its own, in half hours. All waits and leases are odd numbers of them and
/// the clock moves by even ones, so that nothing ever falls due at the very moment of a call, and
/// an engine whose clock runs by itself a little agrees with it all the same.
class TaskModel {
 public:
  using HalfHours = std::chrono::duration<std::int64_t, std::ratio<1800>>;

  struct Task {
    std::string queue;
    int priority = 0;
    TaskStatus status = TaskStatus::pending;
    std::int64_t version = 0;
    int attempts = 0;
    int crashes = 0;
    bool cancel_requested = false;
    HalfHours due{0};
    HalfHours lease_end{0};
  };

  /// By which claims are ordered; tasks of equal rank may come in any order.
  using Rank = std::tuple<std::size_t, int, HalfHours>;

  [[nodiscard]] const std::map<TaskId, Task>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const Task* find(TaskId id) const {
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? nullptr : &found->second;
  }

  void pass(HalfHours time) { now_ += time; }

  /// `version`: what the engine says; any number may be the first.
  void submit(const NewTask& task, std::int64_t version) {
    Task stored;
    stored.queue = task.queue;
    stored.priority = task.priority;
    stored.version = version;
    stored.due = now_ + std::chrono::duration_cast<HalfHours>(task.delay);
    tasks_.emplace(task.id, stored);
  }

  void pause(const std::string& queue) { paused_.insert(queue); }
  void resume(const std::string& queue) { paused_.erase(queue); }

  /// nullopt: this request may not be given this task.
  [[nodiscard]] std::optional<Rank> rank(TaskId id, const ClaimRequest& request) const {
    const Task* task = find(id);
    if (task == nullptr || !is_waiting(task->status) || task->due > now_) return std::nullopt;
    if (paused_.contains(task->queue)) return std::nullopt;
    const auto queue = std::find(request.queues.begin(), request.queues.end(), task->queue);
    if (queue == request.queues.end()) return std::nullopt;
    return Rank{static_cast<std::size_t>(queue - request.queues.begin()), -task->priority,
                task->due};
  }

  /// The ranks of what can be claimed, best first: of suspects, or of the others.
  [[nodiscard]] std::vector<Rank> claimable(const ClaimRequest& request, bool suspects) const {
    std::vector<Rank> ranks;
    for (const auto& [id, task] : tasks_) {
      if ((task.crashes >= kSuspectCrashes) != suspects) continue;
      if (const std::optional<Rank> of_task = rank(id, request)) ranks.push_back(*of_task);
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  void claim(TaskId id, HalfHours lease) {
    Task& task = tasks_.at(id);
    apply(task, TaskEvent::claim);
    ++task.attempts;
    task.lease_end = now_ + lease;
  }

  SettleStatus settle(const Settlement& settlement) {
    Task* task = held(settlement.lease);
    if (task == nullptr) return SettleStatus::lease_lost;
    const auto wait_or_cancel = [&](TaskEvent event,
                                    std::optional<std::chrono::milliseconds> after) {
      apply(*task, task->cancel_requested ? TaskEvent::cancel : event);
      if (after) task->due = now_ + std::chrono::duration_cast<HalfHours>(*after);
    };
    if (std::holds_alternative<Completed>(settlement.outcome)) apply(*task, TaskEvent::complete);
    if (std::holds_alternative<Failed>(settlement.outcome)) apply(*task, TaskEvent::fail);
    if (std::holds_alternative<CancelHonoured>(settlement.outcome)) {
      apply(*task, TaskEvent::cancel);
    }
    if (const auto* retried = std::get_if<Retried>(&settlement.outcome)) {
      wait_or_cancel(TaskEvent::retry, retried->after);
    }
    if (const auto* released = std::get_if<Released>(&settlement.outcome)) {
      --task->attempts;
      wait_or_cancel(TaskEvent::release, released->after);
    }
    return SettleStatus::settled;
  }

  /// Whether the lease is still held; `cancel_requested` only if it is.
  LeaseState extend(const Lease& lease, HalfHours by) {
    Task* task = held(lease);
    if (task == nullptr) return LeaseState{lease, true, false};
    task->lease_end = now_ + by;
    return LeaseState{lease, false, task->cancel_requested};
  }

  CancelStatus cancel(TaskId id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return CancelStatus::not_found;
    Task& task = found->second;
    if (is_final(task.status)) return CancelStatus::already_final;
    if (task.status == TaskStatus::running) {
      task.cancel_requested = true;
      return CancelStatus::requested;
    }
    apply(task, TaskEvent::cancel);
    return CancelStatus::cancelled;
  }

  std::map<TaskId, TaskStatus> rescue(int max_crashes) {
    std::map<TaskId, TaskStatus> rescued;
    for (auto& [id, task] : tasks_) {
      if (task.status != TaskStatus::running || task.lease_end >= now_) continue;
      --task.attempts;
      ++task.crashes;
      apply(task, task.cancel_requested         ? TaskEvent::cancel
                  : task.crashes >= max_crashes ? TaskEvent::fail
                                                : TaskEvent::rescue);
      rescued.emplace(id, task.status);
    }
    return rescued;
  }

  bool requeue(TaskId id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end() || !next(found->second.status, TaskEvent::requeue)) return false;
    Task& task = found->second;
    apply(task, TaskEvent::requeue);
    task.attempts = 0;
    task.crashes = 0;
    task.cancel_requested = false;
    task.due = now_;
    return true;
  }

  bool discard(TaskId id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end() || !is_final(found->second.status)) return false;
    tasks_.erase(found);
    return true;
  }

  void remove(TaskId id) { tasks_.erase(id); }

 private:
  static void apply(Task& task, TaskEvent event) {
    task.status = next(task.status, event).value();
    ++task.version;
  }

  Task* held(const Lease& lease) {
    const auto found = tasks_.find(lease.id);
    if (found == tasks_.end()) return nullptr;
    Task& task = found->second;
    return task.status == TaskStatus::running && task.version == lease.version ? &task : nullptr;
  }

  std::map<TaskId, Task> tasks_;
  std::set<std::string> paused_;
  HalfHours now_{0};
};

}  // namespace errand::testing
