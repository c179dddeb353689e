#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "errand/task_catalog.hpp"

#include "cli/console.hpp"

namespace errand::cli {

/// Prints a JSON text as a line. On a terminal, what could act on the terminal is escaped; the
/// JSON means the same.
void print_json(Console& console, std::string_view json);

[[nodiscard]] std::string json_array(const std::vector<TaskRecord>& tasks);

/// {"items":[…],"total":…,"page":…,"page_size":…,"total_pages":…}
[[nodiscard]] std::string json_page(const TaskPage& page);

}  // namespace errand::cli
