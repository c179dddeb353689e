#pragma once

#include <optional>
#include <string>
#include <vector>

#include "terminal/cli11_fwd.hpp"
#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

/// What lies between main() and a program's commands.
namespace errand::terminal {

/// A whole program, but for where its streams come from: parses the arguments (without the
/// program's name), runs the command, reports what went wrong.
using Program = ExitCode (*)(std::vector<std::string> arguments, Console& console) noexcept;

/// What main() does: runs `program` on the standard streams, and returns the process's exit status.
[[nodiscard]] int run_on_standard_streams(Program program, int argc, char** argv);

/// Gives `root` our help, which ends with `footer`, and --version; one of the commands that are
/// added to it must be named.
void begin_program(CLI::App& root, const Screen& screen, const std::string& footer);

/// Parses the command line; nullopt: a command was named, and is to be run. Else that was all:
/// help or the version was printed, or what is wrong with the arguments.
[[nodiscard]] std::optional<ExitCode> parse_arguments(CLI::App& root,
                                                      std::vector<std::string> arguments,
                                                      Console& console);

}  // namespace errand::terminal
