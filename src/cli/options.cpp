#include "cli/options.hpp"

#include <charconv>
#include <fmt/format.h>

#include "errand/errors.hpp"

#include "cli/display.hpp"
#include "cli/duration.hpp"

namespace errand::cli {
namespace {

std::int64_t parse_number(const std::string& name, const std::string& text, std::int64_t lowest,
                          std::int64_t highest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < lowest ||
      value > highest) {
    throw ConfigurationException{fmt::format("{}: '{}' is not a whole number of {} to {}", name,
                                             printable(text), lowest, highest)};
  }
  return value;
}

std::chrono::milliseconds parse_duration_option(const std::string& name, const std::string& text) {
  try {
    return parse_duration(text);
  } catch (const ValidationException& error) {
    throw ConfigurationException{name + ": " + error.what()};
  }
}

}  // namespace

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& purpose,
                      const std::string& group) {
  CLI::App* command = parent.add_subcommand(name, purpose);
  command->group(group);
  return *command;
}

void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines) {
  std::string footer = "Examples:";
  for (const std::string_view line : lines) footer.append("\n  ").append(line);
  command.footer(footer);
}

void add_dsn(CLI::App& command, Invocation& invocation) {
  command
      .add_option("--dsn", invocation.dsn_option,
                  "Where the tasks are, as sqlite:FILE; without it $ERRAND_DSN, else "
                  "$MESSENGER_TRANSPORT_DSN, else sqlite:errand.db")
      ->type_name("DSN")
      ->group("Storage");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON, for programs");
}

CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::milliseconds& value, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) { value = parse_duration_option(name, text); },
          description)
      ->type_name("TIME");
}

CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::optional<std::chrono::milliseconds>& value,
                          const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) { value = parse_duration_option(name, text); },
          description)
      ->type_name("TIME");
}

CLI::Option* add_number(CLI::App& command, const std::string& name, std::int64_t& value,
                        std::int64_t lowest, std::int64_t highest, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, name, lowest, highest](const std::string& text) {
            value = parse_number(name, text, lowest, highest);
          },
          description)
      ->type_name("N");
}

CLI::Option* add_values(CLI::App& command, const std::string& name,
                        std::vector<std::string>& values, const std::string& description) {
  return command.add_option(name, values, description)->allow_extra_args(false);
}

CLI::Option* add_ids(CLI::App& command, std::vector<std::string>& ids,
                     const std::string& description) {
  return command.add_option("ID", ids, description)->type_name("");
}

std::vector<TaskId> parse_ids(const std::vector<std::string>& texts) {
  std::vector<TaskId> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) ids.push_back(TaskId::from_string(text));
  return ids;
}

}  // namespace errand::cli
