#pragma once

#include <string>

#include "distributor_upgrade/commands/screen_text.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class ParseError;
}  // namespace CLI

namespace errand::distributors {

/// Lets `--help` of `root`, and of the commands that are added to it later, look as `errand`'s:
/// purpose, usage, commands or options, examples.
void lay_out_help(CLI::App& root, const Screen& screen);

/// One sentence about a command line that `root` could not parse, and whose help to read.
[[nodiscard]] std::string explain_usage_error(const CLI::App& root, const CLI::ParseError& error);

}  // namespace errand::distributors
