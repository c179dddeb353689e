#pragma once

#include <string>
#include <vector>

#include "distributor_upgrade/commands/invocation.hpp"

namespace errand::distributors {

/// The whole program, but for where its streams come from: parses the arguments (without the
/// program's name), runs the command, reports what went wrong. Throws nothing.
[[nodiscard]] ExitCode run(std::vector<std::string> arguments, Invocation& invocation) noexcept;

/// Parses the arguments and runs the command they name; throws what it throws.
ExitCode parse_and_run(std::vector<std::string> arguments, Invocation& invocation);

}  // namespace errand::distributors
