#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "errand/task_id.hpp"

#include "cli/invocation.hpp"
#include "terminal/options.hpp"

namespace errand::cli {

using terminal::add_argument;
using terminal::add_command;
using terminal::add_duration;
using terminal::add_examples;
using terminal::add_flag;
using terminal::add_json;
using terminal::add_number;
using terminal::add_text;
using terminal::add_texts;
using terminal::AddedOption;
using terminal::kCommonOptions;
using terminal::kFileName;
using terminal::kTimeName;
using terminal::require_command;
using terminal::runs;

/// The task ids a command is about.
AddedOption add_ids(CLI::App& command, std::vector<std::string>& ids,
                    const std::string& description);

/// Throws ValidationException at the first that is none.
[[nodiscard]] std::vector<TaskId> parse_ids(const std::vector<std::string>& texts);

/// For commands that work on tasks by id or on all that a filter finds. Throws
/// ConfigurationException unless one of both was chosen; `filters` names the options.
void require_one_choice(bool by_id, bool by_filter, std::string_view filters);

void add_dsn(CLI::App& command, Invocation& invocation);

}  // namespace errand::cli
