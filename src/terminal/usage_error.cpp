#include "terminal/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

#include "terminal/command_tree.hpp"
#include "terminal/nearest.hpp"

namespace errand::terminal {
namespace {

/// `typed` without the dashes of an option: they are no letters that somebody got right.
std::string_view letters_of(std::string_view typed) {
  return typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
}

std::string did_you_mean_option(std::string_view typed, const CLI::App& command) {
  std::vector<std::string> words;
  for (const std::string& name : option_names(command)) {
    if (name.starts_with("--")) words.emplace_back(letters_of(name));
  }
  const std::optional<std::string> meant = nearest(letters_of(typed), words);
  return meant ? fmt::format("; did you mean '--{}'?", *meant) : std::string{};
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  const std::optional<std::string> meant = nearest(typed, words);
  return meant ? fmt::format("; did you mean '{}'?", *meant) : std::string{};
}

/// The first argument that no command took, if there is one.
std::optional<std::string> leftover(const CLI::App& root) {
  for (const std::string& word : root.remaining(true)) {
    if (word != "--") return word;
  }
  return std::nullopt;
}

std::string explain_leftover(const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    const std::vector<std::string> known = option_names(command);
    if (std::ranges::find(known, name) != known.end()) {
      return fmt::format("{} goes behind the command: {} {}", name, full_name(command), name);
    }
    return fmt::format("{} has no option '{}'{}", full_name(command), name,
                       did_you_mean_option(name, command));
  }
  if (!command.get_subcommands({}).empty()) {
    return fmt::format("{} has no command '{}'{}", full_name(command), word,
                       did_you_mean(word, command_names(command)));
  }
  return fmt::format("{} does not take '{}'", full_name(command), word);
}

/// CLI11's words about a missing value, `--queue: 1 required QUEUE missing`, in ours.
std::optional<std::string> explain_missing_value(std::string_view text) {
  constexpr std::string_view kNeeds = ": 1 required ";
  constexpr std::string_view kMissing = " missing";
  const std::size_t needs = text.find(kNeeds);
  if (needs == std::string_view::npos || !text.ends_with(kMissing)) return std::nullopt;
  std::string_view value = text.substr(needs + kNeeds.size());
  value.remove_suffix(kMissing.size());
  return fmt::format("{} needs a value: {} {}", text.substr(0, needs), text.substr(0, needs),
                     value.substr(0, value.find(':')));
}

std::string explain(const CLI::App& root, const CLI::App& command, const CLI::ParseError& error) {
  if (const auto word = leftover(root)) return explain_leftover(command, *word);
  if (!command.get_subcommands({}).empty()) {
    return fmt::format("{} needs a command: {}", full_name(command),
                       fmt::join(command_names(command), ", "));
  }
  const std::string text = error.what();
  return explain_missing_value(text).value_or(text);
}

std::string with_next_step(const CLI::App& command, const std::string& sentence) {
  return fmt::format("{}{} See: {} --help", sentence, sentence.ends_with('?') ? "" : ".",
                     full_name(command));
}

}  // namespace

std::optional<std::string> explain_unknown_command(const CLI::App& root) {
  const std::optional<std::string> word = leftover(root);
  const CLI::App& command = named_command(root);
  if (!word || word->starts_with('-') || command.get_subcommands({}).empty()) return std::nullopt;
  return with_next_step(command, explain_leftover(command, *word));
}

std::string explain_usage_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = named_command(root);
  return with_next_step(command, explain(root, command, error));
}

}  // namespace errand::terminal
