#include "core/move_status.hpp"

#include <algorithm>
#include <string>

#include "errand/errors.hpp"

namespace errand::detail {

void move_status(TaskData& task, TaskStatus status, std::optional<std::int64_t> expected_version,
                 Timestamp now) {
  const std::string name = "task " + task.id.to_string();
  if (expected_version && task.version != expected_version) {
    throw ConcurrentModificationException{name + " is at version " +
                                          std::to_string(task.version.value_or(0)) + ", not " +
                                          std::to_string(*expected_version)};
  }
  if (!can_become(task.status, status)) {
    throw ConcurrentModificationException{name + " is " + std::string{to_string(task.status)} +
                                          " now and cannot become " +
                                          std::string{to_string(status)}};
  }
  task.status = status;
  if (status == TaskStatus::running) task.started_at = std::max(now, task.submitted_at);
  if (status == TaskStatus::pending) task.started_at = std::nullopt;
  task.completed_at = std::nullopt;
  if (is_final(status)) {
    task.completed_at = std::max(now, task.started_at.value_or(task.submitted_at));
  }
  validate(task);
}

void refuse_stale(const TaskData& task, std::optional<std::int64_t> stored_version) {
  throw ConcurrentModificationException{
      "task " + task.id.to_string() + " was loaded at version " +
      std::to_string(task.version.value_or(0)) +
      (stored_version ? " and is at version " + std::to_string(*stored_version) + " now"
                      : std::string{" and is gone now"}) +
      ": load it again"};
}

}  // namespace errand::detail
