#include "errand/task_status.hpp"

namespace errand {

std::string_view to_string(TaskStatus status) noexcept {
  switch (status) {
    case TaskStatus::pending:
      return "pending";
    case TaskStatus::running:
      return "running";
    case TaskStatus::retrying:
      return "retrying";
    case TaskStatus::completed:
      return "completed";
    case TaskStatus::failed:
      return "failed";
    case TaskStatus::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view to_string(TaskEvent event) noexcept {
  switch (event) {
    case TaskEvent::claim:
      return "claim";
    case TaskEvent::complete:
      return "complete";
    case TaskEvent::fail:
      return "fail";
    case TaskEvent::retry:
      return "retry";
    case TaskEvent::rescue:
      return "rescue";
    case TaskEvent::release:
      return "release";
    case TaskEvent::cancel:
      return "cancel";
    case TaskEvent::requeue:
      return "requeue";
  }
  return "unknown";
}

std::optional<TaskStatus> parse_task_status(std::string_view word) noexcept {
  for (const TaskStatus status : kAllTaskStatuses) {
    if (to_string(status) == word) return status;
  }
  return std::nullopt;
}

}  // namespace errand
