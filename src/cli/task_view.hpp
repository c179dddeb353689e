#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_catalog.hpp"
#include "errand/timestamp.hpp"

#include "terminal/screen.hpp"

/// Tasks for people.
namespace errand::cli {

/// `1 task`, `2 tasks`; with a kind, `1 expired task`.
[[nodiscard]] std::string format_tasks(std::int64_t count, std::string_view kind = {});

/// Everything about one task, a line for each thing. `now` is what ages are counted from.
void print_task(std::ostream& out, const TaskRecord& task, Timestamp now,
                const terminal::Screen& screen);

/// One task a row.
void print_tasks(std::ostream& out, const std::vector<TaskRecord>& tasks, Timestamp now,
                 const terminal::Screen& screen);

}  // namespace errand::cli
