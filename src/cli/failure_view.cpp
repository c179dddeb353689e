#include "cli/failure_view.hpp"

#include <fmt/ostream.h>

#include "terminal/display.hpp"
#include "terminal/paint.hpp"

namespace errand::cli {
namespace {

void print_trace(std::ostream& out, std::string_view trace, std::string_view indent) {
  while (!trace.empty()) {
    const std::size_t end = trace.find('\n');
    fmt::print(out, "{}  {}\n", indent, terminal::printable(trace.substr(0, end)));
    if (end == std::string_view::npos) return;
    trace.remove_prefix(end + 1);
  }
}

}  // namespace

std::string summarize(const ExceptionData& error) {
  if (error.message.empty()) return error.class_name;
  const std::string message =
      terminal::truncate(terminal::printable(error.message), terminal::kLongestMessage);
  return message + " (" + error.class_name + ")";
}

void print_causes(std::ostream& out, const ExceptionData& error, std::string_view indent,
                  Traces traces) {
  for (const ExceptionData* cause = &error; cause != nullptr; cause = cause->previous.get()) {
    if (cause != &error) {
      fmt::print(out, "{}caused by {}: {}\n", indent, terminal::printable(cause->class_name),
                 terminal::printable(cause->message));
    }
    if (cause->code != 0) fmt::print(out, "{}code {}\n", indent, cause->code);
    if (!cause->file.empty()) {
      fmt::print(out, "{}thrown at {}:{}\n", indent, terminal::printable(cause->file), cause->line);
    }
    if (traces == Traces::show) print_trace(out, cause->trace, indent);
  }
}

void print_failure(TaskId id, const ExceptionData& error, terminal::Console& console) {
  fmt::print(
      console.err, "errand: task {} failed: {}: {}\n", id.to_string(),
      paint(terminal::printable(error.class_name), terminal::Colour::red, console.err_screen),
      terminal::printable(error.message));
  print_causes(console.err, error, "  ", Traces::leave_out);
}

}  // namespace errand::cli
