#pragma once

#include <optional>
#include <string>

#include "terminal/cli11_fwd.hpp"

namespace errand::terminal {

/// One sentence about a command line that `root` could not parse, with the next step: the word
/// that was probably meant, and whose help to read.
[[nodiscard]] std::string explain_usage_error(const CLI::App& root, const CLI::ParseError& error);

/// The same where help was asked for of a command that there is not; nullopt: there is.
[[nodiscard]] std::optional<std::string> explain_unknown_command(const CLI::App& root);

}  // namespace errand::terminal
