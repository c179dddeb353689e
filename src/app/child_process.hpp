#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace errand::detail {

struct ChildResult {
  enum class End { exited, signalled, timed_out, stopped, output_too_large };
  End end = End::exited;
  int code = 0;  ///< exit status or signal number
  std::string output;
  std::string errors;  ///< the end of standard error
};

struct ChildOptions {
  std::string command;                                           ///< for /bin/sh -c
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to this process's own
  std::chrono::milliseconds timeout{0};                          ///< 0: none
  std::size_t max_output = 0;
  std::size_t max_errors = 0;
};

/// Runs the command in a session of its own, without a terminal, feeds it `input` and collects what
/// it prints. Whatever ends it early sends the whole group SIGTERM and, half a second later,
/// SIGKILL; what the command leaves running when it ends is killed at once. Dies with this process.
/// Throws std::system_error if it cannot be started.
///
/// This process must ignore SIGPIPE: a command need not read its input.
[[nodiscard]] ChildResult run_child(const ChildOptions& options, std::string_view input,
                                    const std::stop_token& stop);

}  // namespace errand::detail
