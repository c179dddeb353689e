#pragma once

#include <string>
#include <vector>

#include "errand/task_catalog.hpp"

namespace errand::cli {

[[nodiscard]] std::string json_array(const std::vector<TaskRecord>& tasks);

/// {"items":[…],"total":…,"page":…,"page_size":…,"total_pages":…}
[[nodiscard]] std::string json_page(const TaskPage& page);

}  // namespace errand::cli
