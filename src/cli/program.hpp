#pragma once

#include <string>
#include <vector>

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::cli {

/// The program `errand`; see terminal::Program.
[[nodiscard]] terminal::ExitCode run(std::vector<std::string> arguments,
                                     terminal::Console& console) noexcept;

}  // namespace errand::cli
