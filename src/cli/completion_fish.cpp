#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "cli/completion_scripts.hpp"
#include "cli/options.hpp"
#include "terminal/command_tree.hpp"

namespace errand::cli {
namespace {

using terminal::all_commands;
using terminal::takes_value;
using terminal::value_choices;
using terminal::value_name;

std::string single_quoted(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  safe += '\'';
  return safe;
}

std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? ""
             : path_of(*command.get_parent()) + " " + command.get_name();
}

std::string option_line(const std::string& condition, const CLI::Option& option) {
  std::string line = condition;
  for (const std::string& letter : option.get_snames()) line += " -s " + letter;
  for (const std::string& word : option.get_lnames()) line += " -l " + word;
  if (takes_value(option)) {
    const std::vector<std::string> choices = value_choices(option);
    line += value_name(option) == kFileName ? " -r -F" : " -x";
    if (!choices.empty()) line += fmt::format(" -a '{}'", fmt::join(choices, " "));
  }
  return line + " -d " + single_quoted(option.get_description()) + "\n";
}

std::string lines_for(const CLI::App& command) {
  const std::string condition =
      fmt::format("complete -c errand -n \"__errand_at '{}'\"", path_of(command));
  std::string lines;
  for (const CLI::App* sub : command.get_subcommands({})) {
    lines += fmt::format("{} -a {} -d {}\n", condition, sub->get_name(),
                         single_quoted(sub->get_description()));
  }
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) {
      lines += option_line(condition, *option);
    } else if (const auto choices = value_choices(*option); !choices.empty()) {
      lines += fmt::format("{} -a '{}'\n", condition, fmt::join(choices, " "));
    }
  }
  return lines;
}

}  // namespace

std::string fish_completion(const CLI::App& root) {
  std::vector<std::string> paths;
  std::string lines;
  for (const CLI::App* command : all_commands(root)) {
    if (command != &root) paths.push_back(single_quoted(path_of(*command)));
    lines += lines_for(*command);
  }
  return fmt::format(R"(# Completion of errand for fish. To use it:
#   errand completion fish > ~/.config/fish/completions/errand.fish
function __errand_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
            case {}
                set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end
complete -c errand -f
{})",
                     fmt::join(paths, " "), lines);
}

}  // namespace errand::cli
