#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "errand/errors.hpp"

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
  const auto keep = [&invocation](const std::string& text) {
    // Most likely a variable that was never set: not a wish to use whatever else there is.
    if (text.empty()) {
      throw ConfigurationException{
          "--dsn: it is empty; write sqlite:path.db, or leave the option out"};
    }
    invocation.dsn_option = text;
  };
  command
      .add_option_function<std::string>("--dsn", keep,
                                        "Where the tasks are: sqlite:FILE, postgresql://…, "
                                        "redis://…; without it $ERRAND_DSN, else "
                                        "$MESSENGER_TRANSPORT_DSN, else sqlite:errand.db")
      ->type_name("DSN")
      ->group(kCommonOptions);
}

void require_one_choice(bool by_id, bool by_filter, std::string_view filters) {
  if (!by_id && !by_filter) {
    throw ConfigurationException{fmt::format("which tasks? Give their ids, {} or --all", filters)};
  }
  if (by_id && by_filter) {
    throw ConfigurationException{fmt::format("give either ids or {} or --all, not both", filters)};
  }
}

}  // namespace errand::cli
