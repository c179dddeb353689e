#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace errand::invoices {

/// How a child process ended.
struct ChildEnd {
  enum class How { exited, signalled, timed_out, stopped, output_too_large, spoke_nonsense };
  How how = How::exited;
  int code = 0;        ///< exit status or signal number
  std::string errors;  ///< the end of its standard error, made printable
};

struct ChildSetup {
  std::filesystem::path program;
  std::string argument;
  int input = -1;  ///< becomes its standard input; an open file at its beginning
  std::size_t max_output = 0;
};

/// Called with every line of the child's output. False: the line makes no sense, end the child.
using OnLine = std::function<bool(std::string_view line)>;
/// The time by which the child must say more; asked again after every line.
using Deadline = std::function<std::chrono::steady_clock::time_point()>;

/// Starts the program with an environment of nothing but what it needs, so that no secret of this
/// process is in reach of a document. It dies with the thread that called this. Ends it with
/// SIGKILL at the deadline or on a stop. Throws std::system_error if it cannot be started.
[[nodiscard]] ChildEnd run_extractor(const ChildSetup& setup, const OnLine& on_line,
                                     const Deadline& deadline, const std::stop_token& stop);

}  // namespace errand::invoices
