#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <vector>

#include "cli/completion_scripts.hpp"
#include "cli/options.hpp"
#include "terminal/command_tree.hpp"

namespace errand::cli {
namespace {

using terminal::all_commands;
using terminal::command_names;
using terminal::option_names;
using terminal::takes_value;
using terminal::value_choices;
using terminal::value_name;

/// `errand failed list` is known to the script as ` failed list`, each word after a space.
std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? ""
             : path_of(*command.get_parent()) + " " + command.get_name();
}

std::vector<std::string> words_without_dash(const CLI::App& command) {
  std::vector<std::string> words = command_names(command);
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    for (std::string& choice : value_choices(*option)) words.push_back(std::move(choice));
  }
  return words;
}

std::string value_case(const CLI::App& command, const CLI::Option& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option_names(option)) {
    patterns.push_back(fmt::format("'{} {}'", path_of(command), name));
  }
  std::string action = "return";
  const std::vector<std::string> choices = value_choices(option);
  if (!choices.empty()) {
    action = fmt::format("words='{}'", fmt::join(choices, " "));
  } else if (value_name(option) == kFileName) {
    action = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return";
  }
  return fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), action);
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::vector<std::string> paths;
  std::string values;
  std::string commands;
  for (const CLI::App* command : all_commands(root)) {
    if (command != &root) paths.push_back(fmt::format("'{}'", path_of(*command)));
    for (const CLI::Option* option : command->get_options()) {
      if (takes_value(*option)) values += value_case(*command, *option);
    }
    commands += fmt::format("    '{}') words='{}' options='{}' ;;\n", path_of(*command),
                            fmt::join(words_without_dash(*command), " "),
                            fmt::join(option_names(*command), " "));
  }
  return fmt::format(R"(# Completion of errand for bash. To use it: source <(errand completion bash)
_errand() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path='' words='' options=''
  # bash makes a word of the = in --option=value
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path $prev" in
{}  esac
  if [[ -z $words ]]; then
    case "$path" in
{}    esac
    if [[ $cur == -* || -z $words ]]; then words=$options; fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}}
complete -o default -F _errand errand
)",
                     fmt::join(paths, "|"), values, commands);
}

}  // namespace errand::cli
