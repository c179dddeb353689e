#pragma once

#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"

namespace errand::invoices {

/// The whole program, but for where its streams come from. Throws nothing.
[[nodiscard]] cli::ExitCode run(std::vector<std::string> arguments, cli::Console& console) noexcept;

}  // namespace errand::invoices
