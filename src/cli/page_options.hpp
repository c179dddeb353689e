#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "errand/task_catalog.hpp"

#include "terminal/cli11_fwd.hpp"
#include "terminal/console.hpp"

namespace errand::cli {

/// Which tasks, and how many at a time.
struct PageOptions {
  std::string type;
  std::string queue;
  std::int64_t page = 1;
  std::int64_t page_size = 20;

  [[nodiscard]] TaskFilter filter(std::vector<TaskStatus> statuses) const;
};

/// --type and --queue.
void add_filter(CLI::App& command, PageOptions& options);

/// --page and --page-size.
void add_page(CLI::App& command, PageOptions& options);

/// Tells people that there is more than they see: `Page 1 of 7 · 123 tasks · next: --page 2`.
void print_page_position(const TaskPage& page, terminal::Console& console);

}  // namespace errand::cli
