#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "errand/export.hpp"

namespace errand {

/// Where a task stands. Stored as the lower-case word of to_string(); adding one needs a
/// migration of the CHECK constraints, renaming one is not possible once released.
enum class TaskStatus : std::uint8_t {
  pending,    ///< submitted, waiting for a worker
  running,    ///< claimed by a worker that holds its lease
  retrying,   ///< ran before, waits for its next attempt
  completed,  ///< final: the result is stored
  failed,     ///< final: the error is stored
  cancelled,  ///< final: neither
};

/// What can happen to a task.
enum class TaskEvent : std::uint8_t {
  claim,     ///< a worker takes it
  complete,  ///< its handler returned
  fail,      ///< its handler gave up, or attempts or crashes are used up
  retry,     ///< its handler failed and another attempt is left
  rescue,    ///< its worker's lease expired
  release,   ///< its worker stops and hands it back unfinished
  cancel,    ///< somebody asked, and it was waiting or its handler agreed
  requeue,   ///< an operator runs a failed or cancelled task again
};

inline constexpr std::array kAllTaskStatuses{TaskStatus::pending,  TaskStatus::running,
                                             TaskStatus::retrying, TaskStatus::completed,
                                             TaskStatus::failed,   TaskStatus::cancelled};

inline constexpr std::array kAllTaskEvents{
    TaskEvent::claim,  TaskEvent::complete, TaskEvent::fail,   TaskEvent::retry,
    TaskEvent::rescue, TaskEvent::release,  TaskEvent::cancel, TaskEvent::requeue};

struct Transition {
  TaskStatus from;
  TaskEvent event;
  TaskStatus to;
};

/// The whole lifecycle. Engines, tests and docs/lifecycle.md follow this table.
inline constexpr std::array kTransitions{
    Transition{TaskStatus::pending, TaskEvent::claim, TaskStatus::running},
    Transition{TaskStatus::pending, TaskEvent::cancel, TaskStatus::cancelled},
    Transition{TaskStatus::retrying, TaskEvent::claim, TaskStatus::running},
    Transition{TaskStatus::retrying, TaskEvent::cancel, TaskStatus::cancelled},
    Transition{TaskStatus::running, TaskEvent::complete, TaskStatus::completed},
    Transition{TaskStatus::running, TaskEvent::fail, TaskStatus::failed},
    Transition{TaskStatus::running, TaskEvent::retry, TaskStatus::retrying},
    Transition{TaskStatus::running, TaskEvent::rescue, TaskStatus::retrying},
    Transition{TaskStatus::running, TaskEvent::release, TaskStatus::retrying},
    Transition{TaskStatus::running, TaskEvent::cancel, TaskStatus::cancelled},
    Transition{TaskStatus::failed, TaskEvent::requeue, TaskStatus::pending},
    Transition{TaskStatus::cancelled, TaskEvent::requeue, TaskStatus::pending},
};

/// nullopt: `event` is illegal in state `from`.
[[nodiscard]] constexpr std::optional<TaskStatus> next(TaskStatus from, TaskEvent event) noexcept {
  for (const Transition& row : kTransitions) {
    if (row.from == from && row.event == event) return row.to;
  }
  return std::nullopt;
}

/// Whether some event leads from `from` to `to`.
[[nodiscard]] constexpr bool can_become(TaskStatus from, TaskStatus to) noexcept {
  for (const Transition& row : kTransitions) {
    if (row.from == from && row.to == to) return true;
  }
  return false;
}

/// Final statuses have a completion time and expire; only an operator's requeue leaves them.
[[nodiscard]] constexpr bool is_final(TaskStatus status) noexcept {
  return status == TaskStatus::completed || status == TaskStatus::failed ||
         status == TaskStatus::cancelled;
}

/// A waiting task may be claimed once it is due.
[[nodiscard]] constexpr bool is_waiting(TaskStatus status) noexcept {
  return next(status, TaskEvent::claim).has_value();
}

[[nodiscard]] ERRAND_EXPORT std::string_view to_string(TaskStatus status) noexcept;
[[nodiscard]] ERRAND_EXPORT std::string_view to_string(TaskEvent event) noexcept;

/// The inverse of to_string(), exact; nullopt for other words.
[[nodiscard]] ERRAND_EXPORT std::optional<TaskStatus> parse_task_status(
    std::string_view word) noexcept;

}  // namespace errand
