#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "errand/tasks.hpp"
#include "errand/timestamp.hpp"

#include "cli/input.hpp"
#include "terminal/console.hpp"

namespace errand::cli {

/// Without the white space around it.
[[nodiscard]] std::string trim_json(std::string text);

/// What all tasks of a file have in common.
struct LinePattern {
  NewTask task;  ///< but for id and payload
  std::optional<Timestamp>
      at{};  ///< run not before; each task's delay is counted when it is stored
};

/// How long it is from `now` to `time`; 0 if that has passed.
[[nodiscard]] std::chrono::milliseconds delay_until(Timestamp time, Timestamp now);

/// Submits a copy of `pattern` for each line of JSON that is not blank, and prints the ids. One
/// transaction for 1,000 lines, or fewer if they are long, so that memory stays bounded. Throws
/// ValidationException at a line that is not JSON and StorageException; both say how many tasks
/// were submitted before. If the ids cannot be printed, that is told before OutputException leaves.
void submit_lines(Input& input, const LinePattern& pattern, Tasks& tasks,
                  terminal::Console& console);

}  // namespace errand::cli
