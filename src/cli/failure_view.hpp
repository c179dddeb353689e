#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "errand/exception_data.hpp"
#include "errand/task_id.hpp"

#include "terminal/console.hpp"

/// A task's error for people.
namespace errand::cli {

enum class Traces { show, leave_out };

/// For a cell of a table: `the mailbox is full (std::runtime_error)`. A long message is cut; the
/// table may cut more.
[[nodiscard]] std::string summarize(const ExceptionData& error);

/// Where it was thrown and what caused it, one line each, every line after `indent`.
void print_causes(std::ostream& out, const ExceptionData& error, std::string_view indent,
                  Traces traces);

/// Says on `console.err` that the task failed, and why.
void print_failure(TaskId id, const ExceptionData& error, terminal::Console& console);

}  // namespace errand::cli
