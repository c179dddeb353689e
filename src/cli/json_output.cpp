#include "cli/json_output.hpp"

#include <fmt/format.h>
#include <ostream>

#include "terminal/display.hpp"

namespace errand::cli {

void print_json(Console& console, std::string_view json) {
  if (console.out_screen.is_terminal) {
    console.out << terminal::printable_json(json) << '\n';
  } else {
    console.out << json << '\n';
  }
}

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
