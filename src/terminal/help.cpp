#include "terminal/help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/command_tree.hpp"
#include "terminal/display.hpp"
#include "terminal/options.hpp"
#include "terminal/paint.hpp"

namespace errand::terminal {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidestName = 26;

struct Entry {
  std::string name;
  std::string description;
};

struct Group {
  std::string title;
  std::vector<Entry> entries;
};

Group& group_named(std::vector<Group>& groups, const std::string& title) {
  const auto found = std::ranges::find(groups, title, &Group::title);
  if (found != groups.end()) return *found;
  return groups.emplace_back(Group{title, {}});
}

std::string usage_of(const CLI::App& app) {
  std::string usage = app.get_subcommands({}).empty() ? " [OPTION]…" : " [OPTION]… COMMAND";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = option->get_name(true);
    if (option->get_allow_extra_args()) name += "…";
    usage += option->get_required() ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  return usage;
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string name;
  for (const std::string& letter : option.get_snames()) name += "-" + letter + ", ";
  // Long names line up whether or not there is a letter before them.
  if (name.empty()) name = "    ";
  name += "--" + option.get_lnames().front();
  const std::string value = value_name(option);
  if (!value.empty()) name += value.starts_with('[') ? value : " " + value;
  return name;
}

std::string description_of(const CLI::Option& option) {
  const std::vector<std::string> choices = value_choices(option);
  if (choices.empty()) return option.get_description();
  return fmt::format("{}: {}", option.get_description(), fmt::join(choices, ", "));
}

std::vector<Group> option_groups(const CLI::App& app) {
  std::vector<Group> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      group_named(groups, "Arguments")
          .entries.push_back({name_of(*option), description_of(*option)});
    }
  }
  std::vector<Group> common;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    auto& where = option->get_group() == kCommonOptions ? common : groups;
    group_named(where, option->get_group())
        .entries.push_back({name_of(*option), description_of(*option)});
  }
  groups.insert(groups.end(), common.begin(), common.end());
  return groups;
}

std::vector<Group> command_groups(const CLI::App& app) {
  std::vector<Group> groups;
  for (const CLI::App* command : app.get_subcommands({})) {
    group_named(groups, command->get_group())
        .entries.push_back({command->get_name(), command->get_description()});
  }
  return groups;
}

bool takes_time(const CLI::App& app) {
  return std::ranges::any_of(app.get_options(), [](const CLI::Option* option) {
    return value_name(*option).find(kTimeName) != std::string::npos;
  });
}

/// `text` in lines of at most `width` columns, the following ones after `indent` spaces.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      wrapped.append(1, '\n').append(indent, ' ');
      used = 0;
    } else if (used > 0) {
      wrapped += ' ';
      ++used;
    }
    wrapped += word;
    used += columns;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

class HelpLayout final : public CLI::FormatterBase {
 public:
  explicit HelpLayout(const Screen& screen) : screen_{screen} {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  Screen screen_;
};

std::string HelpLayout::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode /*mode*/) const {
  const std::size_t width =
      screen_.width == 0 ? 80 : std::clamp<std::size_t>(screen_.width, 60, 100);
  const auto heading = [&](std::string_view text) { return paint(text, Colour::bold, screen_); };

  std::string help = wrap(app->get_description(), width, 0) + "\n\n";
  help += fmt::format("{} {}{}\n", heading("Usage:"), name, usage_of(*app));

  std::vector<Group> groups = command_groups(*app);
  for (Group& group : option_groups(*app)) groups.push_back(std::move(group));
  std::size_t column = 0;
  for (const Group& group : groups) {
    for (const Entry& entry : group.entries) {
      const std::size_t taken = display_width(entry.name);
      if (taken <= kWidestName) column = std::max(column, kIndent + taken + kIndent);
    }
  }
  for (const Group& group : groups) {
    help += fmt::format("\n{}\n", heading(group.title + ":"));
    for (const Entry& entry : group.entries) {
      help += std::string(kIndent, ' ') + entry.name;
      const std::size_t used = kIndent + display_width(entry.name);
      help += used + kIndent > column ? "\n" + std::string(column, ' ')
                                      : std::string(column - used, ' ');
      help += wrap(entry.description, width - column, column) + "\n";
    }
  }
  if (takes_time(*app))
    help +=
        fmt::format("\n{} is 500ms, 5s, 2m, 1h, 7d, or a plain number of seconds.\n", kTimeName);
  const std::string footer = app->get_footer();
  if (!footer.empty()) help += "\n" + footer + "\n";
  return help;
}

}  // namespace

void lay_out_help(CLI::App& root, const Screen& screen) {
  root.formatter(std::make_shared<HelpLayout>(screen));
  root.set_help_flag("-h,--help", "Print this help")->group(kCommonOptions);
}

}  // namespace errand::terminal
