#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_id.hpp"

#include "cli/exit_code.hpp"
#include "cli/invocation.hpp"
#include "terminal/options.hpp"

namespace errand::cli {

using terminal::add_argument;
using terminal::add_command;
using terminal::add_duration;
using terminal::add_examples;
using terminal::add_flag;
using terminal::add_number;
using terminal::add_text;
using terminal::add_texts;
using terminal::AddedOption;
using terminal::kCommonOptions;
using terminal::kFileName;
using terminal::kTimeName;
using terminal::require_command;

/// The task ids a command is about.
AddedOption add_ids(CLI::App& command, std::vector<std::string>& ids,
                    const std::string& description);

/// Throws ValidationException at the first that is none.
[[nodiscard]] std::vector<TaskId> parse_ids(const std::vector<std::string>& texts);

/// For commands that work on tasks by id or on all that a filter finds. Throws
/// ConfigurationException unless one of both was chosen; `filters` names the options.
void require_one_choice(bool by_id, bool by_filter, std::string_view filters);

void add_dsn(CLI::App& command, Invocation& invocation);
void add_json(CLI::App& command, bool& json);

/// When `command` was named on the command line, the program runs `function`.
void runs(CLI::App& command, Invocation& invocation, std::function<ExitCode()> function);

/// The same with the options that were bound to `*options`.
template <class Options>
void runs(CLI::App& command, Invocation& invocation, const std::shared_ptr<Options>& options,
          ExitCode (*function)(const Options&, Invocation&)) {
  runs(command, invocation,
       [&invocation, options, function] { return function(*options, invocation); });
}

}  // namespace errand::cli
