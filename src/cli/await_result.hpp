#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "errand/application.hpp"
#include "errand/task_id.hpp"

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::cli {

/// The task's result as JSON, once it is there. A person at a terminal sees meanwhile how far it
/// is. Throws as TaskFuture::get().
[[nodiscard]] std::string await_result(Application& app, TaskId id,
                                       std::optional<std::chrono::milliseconds> timeout,
                                       terminal::Console& console);

/// Waits, prints the result on `console.out` or the failure on `console.err`. The result is one
/// line, unless a person at a terminal reads it. Throws StorageException and OutputException; all
/// other ends are exit codes.
[[nodiscard]] terminal::ExitCode print_result(Application& app, TaskId id,
                                              std::optional<std::chrono::milliseconds> timeout,
                                              terminal::Console& console);

/// The same for programs, a JSON object on a line, whatever the end: taskId, status (as it is when
/// the time is up; `unknown`, `expired`) and, where there is one, result or error.
[[nodiscard]] terminal::ExitCode print_outcome(Application& app, TaskId id,
                                               std::optional<std::chrono::milliseconds> timeout,
                                               terminal::Console& console);

}  // namespace errand::cli
