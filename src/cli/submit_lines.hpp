#pragma once

#include <string>

#include "errand/tasks.hpp"

#include "cli/console.hpp"
#include "cli/input.hpp"

namespace errand::cli {

/// Without the white space around it.
[[nodiscard]] std::string trim_json(std::string text);

/// Submits a copy of `pattern` for each line of JSON that is not blank, and prints the ids. One
/// transaction for 1,000 lines, or fewer if they are long, so that memory stays bounded. Throws
/// ValidationException at a line that is not JSON and StorageException; both say how many tasks
/// were submitted before.
void submit_lines(Input& input, const NewTask& pattern, Tasks& tasks, Console& console);

}  // namespace errand::cli
