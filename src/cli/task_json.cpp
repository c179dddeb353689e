#include "cli/task_json.hpp"

#include <fmt/format.h>

namespace errand::cli {

std::string json_array(const std::vector<TaskRecord>& tasks) {
  std::string json = "[";
  for (const TaskRecord& task : tasks) {
    if (json.size() > 1) json += ',';
    json += to_json(task);
  }
  json += ']';
  return json;
}

std::string json_page(const TaskPage& page) {
  return fmt::format(R"({{"items":{},"total":{},"page":{},"page_size":{},"total_pages":{}}})",
                     json_array(page.items), page.total, page.page, page.page_size,
                     page.total_pages());
}

}  // namespace errand::cli
