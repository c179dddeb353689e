#pragma once

#include <string>

#include "terminal/cli11_fwd.hpp"

namespace errand::terminal {

/// One sentence about a command line that `root` could not parse, with the next step: the word
/// that was probably meant, and whose help to read.
[[nodiscard]] std::string explain_usage_error(const CLI::App& root, const CLI::ParseError& error);

}  // namespace errand::terminal
