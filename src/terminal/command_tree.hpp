#pragma once

#include <string>
#include <vector>

#include "terminal/cli11_fwd.hpp"

/// Questions about the commands and options that CLI11 holds: help, completion and error messages
/// all read the same tree.
namespace errand::terminal {

/// The innermost command that was named on the command line; `root` if none was.
[[nodiscard]] const CLI::App& named_command(const CLI::App& root);

/// `errand failed list`
[[nodiscard]] std::string full_name(const CLI::App& command);

/// `root` and everything below it, each before what is below it.
[[nodiscard]] std::vector<const CLI::App*> all_commands(const CLI::App& root);

/// Whether the word after the option belongs to it.
[[nodiscard]] bool takes_value(const CLI::Option& option);

/// What the option's value is called in the help, `FILE`; empty for flags. `[=TIME]` for a value
/// that may be left out.
[[nodiscard]] std::string value_name(const CLI::Option& option);

/// The only words the option's value may be; empty if there is no such list.
[[nodiscard]] std::vector<std::string> value_choices(const CLI::Option& option);

/// `--queue`, `-h`: all ways to write it; empty for positionals.
[[nodiscard]] std::vector<std::string> option_names(const CLI::Option& option);

[[nodiscard]] std::vector<std::string> option_names(const CLI::App& command);
[[nodiscard]] std::vector<std::string> command_names(const CLI::App& command);

}  // namespace errand::terminal
