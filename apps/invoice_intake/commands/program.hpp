#pragma once

#include <string>
#include <vector>

#include "terminal/console.hpp"
#include "terminal/exit_code.hpp"

namespace errand::invoices {

/// The program `errand-invoices`; see terminal::Program.
[[nodiscard]] terminal::ExitCode run(std::vector<std::string> arguments,
                                     terminal::Console& console) noexcept;

}  // namespace errand::invoices
