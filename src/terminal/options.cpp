#include "terminal/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "errand/errors.hpp"

#include "terminal/display.hpp"
#include "terminal/duration.hpp"

namespace errand::terminal {
namespace {

/// `--queue` of `-q,--queue`: what messages call it.
std::string long_name(const std::string& name) { return name.substr(name.rfind(',') + 1); }

template <class Number>
std::optional<Number> read_number(const std::string& text, Number lowest, Number highest) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc{} && end == text.data() + text.size();
  // Written so that a NaN is in no range.
  if (!read || !(value >= lowest && value <= highest)) return std::nullopt;
  return value;
}

std::int64_t parse_number(const std::string& name, const std::string& text, std::int64_t lowest,
                          std::int64_t highest) {
  const auto value = read_number(text, lowest, highest);
  if (value) return *value;
  throw ConfigurationException{
      fmt::format("{}: '{}' is not a whole number {}", long_name(name), printable(text),
                  highest == kNoHighest ? fmt::format("from {} on", lowest)
                                        : fmt::format("of {} to {}", lowest, highest))};
}

double parse_decimal(const std::string& name, const std::string& text, double lowest,
                     double highest) {
  const auto value = read_number(text, lowest, highest);
  if (value) return *value;
  throw ConfigurationException{fmt::format("{}: '{}' is not a number of {} to {}", long_name(name),
                                           printable(text), lowest, highest)};
}

std::chrono::milliseconds parse_duration_option(const std::string& name, const std::string& text) {
  try {
    return parse_duration(text);
  } catch (const ValidationException& error) {
    throw ConfigurationException{long_name(name) + ": " + error.what()};
  }
}

/// An option or an argument that `parse` makes a value of.
template <class Value, class Parse>
AddedOption add_parsed(CLI::App& command, const std::string& name, Value& value,
                       const std::string& value_name, const std::string& description, Parse parse) {
  const auto keep = [&value, parse](const std::string& text) { value = parse(text); };
  return AddedOption{
      *command.add_option_function<std::string>(name, keep, description)->type_name(value_name)};
}

template <class Value>
AddedOption add_parsed_duration(CLI::App& command, const std::string& name, Value& value,
                                const std::string& description) {
  return add_parsed(command, name, value, kTimeName, description,
                    [name](const std::string& text) { return parse_duration_option(name, text); });
}

template <class Value>
AddedOption add_whole_number(CLI::App& command, const std::string& name, Value& value,
                             std::int64_t lowest, std::int64_t highest,
                             const std::string& description) {
  return add_parsed(command, name, value, "N", description,
                    [name, lowest, highest](const std::string& text) {
                      return parse_number(name, text, lowest, highest);
                    });
}

std::string as_it_is(const std::string& text) { return text; }

}  // namespace

AddedOption& AddedOption::required() {
  option_->required();
  return *this;
}

AddedOption& AddedOption::excludes(const AddedOption& other) {
  option_->excludes(other.option_);
  return *this;
}

AddedOption& AddedOption::one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string{};
    return fmt::format("'{}' is neither {}", text, fmt::join(words, " nor "));
  };
  // The braces are what value_choices() looks for.
  option_->check(CLI::Validator{check, fmt::format("{{{}}}", fmt::join(words, ","))});
  return *this;
}

AddedOption& AddedOption::comma_separated() {
  option_->delimiter(',');
  return *this;
}

AddedOption& AddedOption::not_empty() {
  option_->check([](const std::string& text) {
    return text.empty() ? std::string{"it is empty; give a value, or leave the option out"}
                        : std::string{};
  });
  return *this;
}

AddedOption& AddedOption::common() {
  option_->group(kCommonOptions);
  return *this;
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& purpose,
                      const std::string& group) {
  CLI::App* command = parent.add_subcommand(name, purpose);
  command->group(group);
  command->set_help_flag("-h,--help", "Print this help")->group(kCommonOptions);
  return *command;
}

void require_command(CLI::App& group) { group.require_subcommand(1); }

void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines) {
  std::string footer = "Examples:";
  for (const std::string_view line : lines) footer.append("\n  ").append(line);
  command.footer(footer);
}

AddedOption add_argument(CLI::App& command, const std::string& name, std::string& value,
                         const std::string& description) {
  return AddedOption{*command.add_option(name, value, description)->type_name("")};
}

AddedOption add_argument(CLI::App& command, const std::string& name,
                         std::optional<std::string>& value, const std::string& description) {
  return add_parsed(command, name, value, "", description, as_it_is);
}

AddedOption add_argument(CLI::App& command, const std::string& name,
                         std::vector<std::string>& values, const std::string& description) {
  return AddedOption{*command.add_option(name, values, description)->type_name("")};
}

AddedOption add_flag(CLI::App& command, const std::string& name, bool& value,
                     const std::string& description) {
  return AddedOption{*command.add_flag(name, value, description)};
}

AddedOption add_flag(CLI::App& command, const std::string& name, std::string& value,
                     const std::string& value_name, const std::string& description) {
  return AddedOption{
      *command.add_flag(name, value, description)->type_name("[=" + value_name + "]")};
}

AddedOption add_text(CLI::App& command, const std::string& name, std::string& value,
                     const std::string& value_name, const std::string& description) {
  return AddedOption{*command.add_option(name, value, description)->type_name(value_name)};
}

AddedOption add_text(CLI::App& command, const std::string& name, std::optional<std::string>& value,
                     const std::string& value_name, const std::string& description) {
  return add_parsed(command, name, value, value_name, description, as_it_is);
}

AddedOption add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& value_name, const std::string& description) {
  return AddedOption{*command.add_option(name, values, description)
                          ->type_name(value_name)
                          ->allow_extra_args(false)};
}

AddedOption add_duration(CLI::App& command, const std::string& name,
                         std::chrono::milliseconds& value, const std::string& description) {
  return add_parsed_duration(command, name, value, description);
}

AddedOption add_duration(CLI::App& command, const std::string& name,
                         std::optional<std::chrono::milliseconds>& value,
                         const std::string& description) {
  return add_parsed_duration(command, name, value, description);
}

AddedOption add_number(CLI::App& command, const std::string& name, std::int64_t& value,
                       std::int64_t lowest, std::int64_t highest, const std::string& description) {
  return add_whole_number(command, name, value, lowest, highest, description);
}

AddedOption add_number(CLI::App& command, const std::string& name,
                       std::optional<std::int64_t>& value, std::int64_t lowest,
                       std::int64_t highest, const std::string& description) {
  return add_whole_number(command, name, value, lowest, highest, description);
}

AddedOption add_number(CLI::App& command, const std::string& name, double& value, double lowest,
                       double highest, const std::string& description) {
  return add_parsed(command, name, value, "N", description,
                    [name, lowest, highest](const std::string& text) {
                      return parse_decimal(name, text, lowest, highest);
                    });
}

void add_json(CLI::App& command, bool& json) {
  add_flag(command, "--json", json, "Print JSON, for programs");
}

void runs(CLI::App& command, std::function<ExitCode()>& named, std::function<ExitCode()> function) {
  command.callback([&named, function = std::move(function)] { named = function; });
}

bool typed_before(const CLI::App& command, const std::string& first, const std::string& second) {
  const std::vector<CLI::Option*>& typed = command.parse_order();
  const auto place = [&](const std::string& name) {
    return std::find(typed.begin(), typed.end(), command.get_option(name));
  };
  return place(first) < place(second);
}

}  // namespace errand::terminal
