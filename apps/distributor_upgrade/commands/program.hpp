#pragma once

#include <string>
#include <vector>

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::distributors {

/// The program `errand-distributors`; see terminal::Program.
[[nodiscard]] terminal::ExitCode run(std::vector<std::string> arguments,
                                     terminal::Console& console) noexcept;

/// Parses the arguments and runs the command they name; throws what it throws.
[[nodiscard]] terminal::ExitCode parse_and_run(std::vector<std::string> arguments,
                                               terminal::Console& console);

}  // namespace errand::distributors
