#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_id.hpp"

#include "cli/invocation.hpp"

/// Options that several commands share, with one wording and one way to refuse a wrong value.
///
/// The type name of an option says how shells complete its value: `FILE` by files, one with the
/// words of a validator such as `STATUS:{pending,running}` by those.
namespace errand::cli {

inline constexpr const char* kFileType = "FILE";

/// A subcommand of `parent` in the help's group `group`.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& purpose,
                      const std::string& group = "Commands");

/// What the help ends with: each a comment line and a command, or a command alone.
void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines);

void add_dsn(CLI::App& command, Invocation& invocation);

void add_json(CLI::App& command, bool& json);

CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::milliseconds& value, const std::string& description);
CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::optional<std::chrono::milliseconds>& value,
                          const std::string& description);

/// A whole number of `lowest` to `highest`.
CLI::Option* add_number(CLI::App& command, const std::string& name, std::int64_t& value,
                        std::int64_t lowest, std::int64_t highest, const std::string& description);

/// May be given several times, each time with one value: what follows is not swallowed.
CLI::Option* add_values(CLI::App& command, const std::string& name,
                        std::vector<std::string>& values, const std::string& description);

/// The task ids a command is about.
CLI::Option* add_ids(CLI::App& command, std::vector<std::string>& ids,
                     const std::string& description);

/// Throws ValidationException at the first that is none.
[[nodiscard]] std::vector<TaskId> parse_ids(const std::vector<std::string>& texts);

}  // namespace errand::cli
