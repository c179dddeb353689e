#pragma once

#include <iosfwd>
#include <vector>

#include "errand/task_catalog.hpp"
#include "errand/timestamp.hpp"

#include "cli/console.hpp"

/// Tasks for people.
namespace errand::cli {

/// Everything about one task, a line for each thing. `now` is what ages are counted from.
void print_task(std::ostream& out, const TaskRecord& task, Timestamp now, const Screen& screen);

/// One task a row.
void print_tasks(std::ostream& out, const std::vector<TaskRecord>& tasks, Timestamp now,
                 const Screen& screen);

}  // namespace errand::cli
