#include "distributor_upgrade/commands/help_layout.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "distributor_upgrade/criteria/nearest_name.hpp"

namespace errand::distributors {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string shown_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string name =
      option.get_snames().empty() ? "    " : "-" + option.get_snames().front() + ", ";
  name += "--" + option.get_lnames().front();
  const std::string value = value_name(option);
  return value.empty() ? name : name + " " + value;
}

std::string usage_of(const CLI::App& app) {
  std::string usage = app.get_subcommands({}).empty() ? " [OPTION]…" : " [OPTION]… COMMAND";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

/// `text` in lines of at most `width` columns, the following ones after `indent` spaces.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const std::size_t columns = display_width(word);
    if (used > 0) {
      const bool fits = used + 1 + columns <= width;
      wrapped += fits ? " " : "\n" + std::string(indent, ' ');
      used = fits ? used + 1 : 0;
    }
    wrapped += word;
    used += columns;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return wrapped;
}

class HelpLayout final : public CLI::FormatterBase {
 public:
  explicit HelpLayout(const Screen& screen) : screen_{screen} {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string help = wrap(app->get_description(), width(), 0) + "\n\n";
    help += fmt::format("{} {}{}\n", heading("Usage:"), name, usage_of(*app));
    Entries commands;
    for (const CLI::App* command : app->get_subcommands({})) {
      commands.emplace_back(command->get_name(), command->get_description());
    }
    Entries arguments;
    Entries options;
    for (const CLI::Option* option : app->get_options()) {
      (option->get_positional() ? arguments : options)
          .emplace_back(shown_name(*option), option->get_description());
    }
    help +=
        group("Commands:", commands) + group("Arguments:", arguments) + group("Options:", options);
    const std::string footer = app->get_footer();
    return footer.empty() ? help : help + "\n" + footer + "\n";
  }

 private:
  [[nodiscard]] std::size_t width() const {
    return screen_.width == 0 ? 80 : std::clamp<std::size_t>(screen_.width, 60, 100);
  }
  [[nodiscard]] std::string heading(std::string_view text) const {
    return paint(text, Colour::bold, screen_);
  }

  [[nodiscard]] std::string group(std::string_view title, const Entries& entries) const {
    if (entries.empty()) return {};
    std::size_t column = 0;
    for (const auto& [name, description] : entries) {
      column = std::max(column, display_width(name) + 4);
    }
    std::string text = fmt::format("\n{}\n", heading(title));
    for (const auto& [name, description] : entries) {
      text += "  " + name + std::string(column - 2 - display_width(name), ' ') +
              wrap(description, width() - column, column) + "\n";
    }
    return text;
  }

  Screen screen_;
};

const CLI::App& named_command(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string full_name(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return full_name(*command.get_parent()) + " " + command.get_name();
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  const auto meant = nearest_name(typed, {words.begin(), words.end()});
  return meant ? fmt::format("; did you mean '{}'?", *meant) : std::string{};
}

std::string explain(const CLI::App& root, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> commands;
  for (const CLI::App* sub : command.get_subcommands({})) commands.push_back(sub->get_name());
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  const std::vector<std::string> left = root.remaining(true);
  if (!left.empty() && left.front().starts_with('-')) {
    return fmt::format("{} has no option '{}'{}", full_name(command), left.front(),
                       did_you_mean(left.front(), options));
  }
  if (!left.empty() && !commands.empty()) {
    return fmt::format("{} has no command '{}'{}", full_name(command), left.front(),
                       did_you_mean(left.front(), commands));
  }
  if (!left.empty()) return fmt::format("{} does not take '{}'", full_name(command), left.front());
  if (!commands.empty()) {
    return fmt::format("{} needs a command: {}", full_name(command), fmt::join(commands, ", "));
  }
  return error.what();
}

}  // namespace

void lay_out_help(CLI::App& root, const Screen& screen) {
  root.formatter(std::make_shared<HelpLayout>(screen));
  root.set_help_flag("-h,--help", "Print this help");
}

std::string explain_usage_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = named_command(root);
  const std::string sentence = explain(root, command, error);
  return fmt::format("{}{} See: {} --help", sentence, sentence.ends_with('?') ? "" : ".",
                     full_name(command));
}

}  // namespace errand::distributors
