#include "cli/page_options.hpp"

#include <fmt/ostream.h>
#include <limits>
#include <utility>

#include "cli/options.hpp"
#include "cli/task_view.hpp"
#include "terminal/paint.hpp"

namespace errand::cli {

TaskFilter PageOptions::filter(std::vector<TaskStatus> statuses) const {
  TaskFilter filter;
  filter.statuses = std::move(statuses);
  if (!type.empty()) filter.type = type;
  if (!queue.empty()) filter.queue = queue;
  return filter;
}

void add_filter(CLI::App& command, PageOptions& options) {
  add_text(command, "--type", options.type, "TYPE", "Only tasks of this type").not_empty();
  add_text(command, "--queue", options.queue, "QUEUE", "Only tasks of this queue").not_empty();
}

void add_page(CLI::App& command, PageOptions& options) {
  // The offset of the first item must not overflow either.
  constexpr std::int64_t kLastPage = std::numeric_limits<std::int64_t>::max() / 1000;
  add_number(command, "--page", options.page, 1, kLastPage, "Which page, from 1");
  add_number(command, "--page-size", options.page_size, 1, 1000,
             "Tasks on a page, up to 1000; 20 if left out");
}

void print_page_position(const TaskPage& page, Console& console) {
  if (page.total_pages() <= 1 && !page.items.empty()) return;
  std::string text;
  if (page.total == 0) {
    text = "No tasks";
  } else if (page.items.empty()) {
    text = fmt::format("Page {} is past the last one, {}", page.page, page.total_pages());
  } else {
    text =
        fmt::format("Page {} of {} · {}", page.page, page.total_pages(), format_tasks(page.total));
    if (page.page < page.total_pages()) text += fmt::format(" · next: --page {}", page.page + 1);
  }
  fmt::print(console.out, "{}\n", paint(text, terminal::Colour::dim, console.out_screen));
}

}  // namespace errand::cli
