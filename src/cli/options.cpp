#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace errand::cli {

AddedOption add_ids(CLI::App& command, std::vector<std::string>& ids,
                    const std::string& description) {
  return add_argument(command, "ID", ids, description);
}

std::vector<TaskId> parse_ids(const std::vector<std::string>& texts) {
  std::vector<TaskId> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) ids.push_back(TaskId::from_string(text));
  return ids;
}

void add_dsn(CLI::App& command, Invocation& invocation) {
  command
      .add_option("--dsn", invocation.dsn_option,
                  "Where the tasks are, as sqlite:FILE; without it $ERRAND_DSN, else "
                  "$MESSENGER_TRANSPORT_DSN, else sqlite:errand.db")
      ->type_name("DSN")
      ->group(kCommonOptions);
}

void add_json(CLI::App& command, bool& json) {
  add_flag(command, "--json", json, "Print JSON, for programs");
}

void runs(CLI::App& command, Invocation& invocation, std::function<ExitCode()> function) {
  command.callback(
      [&invocation, function = std::move(function)] { invocation.command = function; });
}

}  // namespace errand::cli
