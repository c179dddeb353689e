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
using terminal::option_names;
using terminal::takes_value;
using terminal::value_choices;
using terminal::value_name;

/// For use between single quotes, where [ ] and : would end a part of the specification.
std::string spec_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string function_name(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? "_" + command.get_name()
             : function_name(*command.get_parent()) + "_" + command.get_name();
}

/// How the value is completed: `:NAME:ACTION`.
std::string value_spec(const CLI::Option& option, const std::string& name) {
  const std::vector<std::string> choices = value_choices(option);
  if (!choices.empty()) return fmt::format(":{}:({})", name, fmt::join(choices, " "));
  return fmt::format(":{}:{}", name, value_name(option) == kFileName ? "_files" : " ");
}

std::string option_spec(const CLI::Option& option) {
  std::string specs;
  for (const std::string& name : option_names(option)) {
    specs += fmt::format(" \\\n    '{}{}[{}]{}'", option.get_items_expected_max() > 1 ? "*" : "",
                         name, spec_text(option.get_description()),
                         takes_value(option) ? value_spec(option, value_name(option)) : "");
  }
  return specs;
}

std::string argument_specs(const CLI::App& command) {
  std::string specs;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) {
      specs += option_spec(*option);
      continue;
    }
    const std::string position = option->get_allow_extra_args() ? "*" : "";
    specs += fmt::format(" \\\n    '{}{}'", position, value_spec(*option, option->get_name(true)));
  }
  return specs;
}

std::string group_function(const CLI::App& command) {
  std::string descriptions;
  std::string dispatch;
  for (const CLI::App* sub : command.get_subcommands({})) {
    descriptions +=
        fmt::format("\n        '{}:{}'", sub->get_name(), spec_text(sub->get_description()));
    dispatch += fmt::format("        {}) {} ;;\n", sub->get_name(), function_name(*sub));
  }
  return fmt::format(R"({}() {{
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C{} \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=({})
      _describe command commands ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}
)",
                     function_name(command), argument_specs(command), descriptions, dispatch);
}

}  // namespace

std::string zsh_completion(const CLI::App& root) {
  std::string script =
      "#compdef errand\n"
      "# Completion of errand for zsh. To use it: errand completion zsh > "
      "\"${fpath[1]}/_errand\"\n";
  for (const CLI::App* command : all_commands(root)) {
    script += "\n";
    script += command->get_subcommands({}).empty()
                  ? fmt::format("{}() {{\n  _arguments{}\n}}\n", function_name(*command),
                                argument_specs(*command))
                  : group_function(*command);
  }
  script += R"(
if [[ $funcstack[1] == _errand ]]; then
  _errand "$@"
else
  compdef _errand errand
fi
)";
  return script;
}

}  // namespace errand::cli
