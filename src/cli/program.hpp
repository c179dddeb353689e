#pragma once

#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"

namespace errand::cli {

/// The whole program, but for where its streams come from: parses the arguments (without the
/// program's name), runs the command, reports what went wrong. Throws nothing.
[[nodiscard]] ExitCode run(std::vector<std::string> arguments, Console& console) noexcept;

}  // namespace errand::cli
