#include <fmt/ostream.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/criteria/figures.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"

namespace errand::distributors {

using Align = terminal::Column::Align;

ExitCode run_level_add(const LevelAddOptions& options, Invocation& invocation) {
  const auto database = invocation.database();
  std::int64_t id = 0;
  database->write([&](Session& session) {
    id = add_level(session,
                   {.rank = options.rank, .name = options.name, .criteria = options.criteria});
  });
  invocation.print_id(id);
  return ExitCode::done;
}

ExitCode run_level_set(const LevelSetOptions& options, Invocation& invocation) {
  if (options.criteria.has_value() == options.by_hand) {
    throw ConfigurationException{"what of it? Give --when CRITERIA, or --by-hand"};
  }
  Level level;
  invocation.database()->write([&](Session& session) {
    set_criteria(session, options.name, options.criteria);
    level = get_level(session, options.name);
  });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(level));
  } else {
    fmt::print(invocation.console.out, "{} is {}{} now\n", terminal::printable(level.name),
               level.criteria ? "reached when " : "given by hand",
               terminal::printable(level.criteria.value_or("")));
  }
  return ExitCode::done;
}

ExitCode run_level_remove(const std::string& name, Invocation& invocation) {
  invocation.database()->write([&](Session& session) { remove_level(session, name); });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(JsonMembers{{"removed", name}}));
  } else {
    fmt::print(invocation.console.out, "{} is removed\n", terminal::printable(name));
  }
  return ExitCode::done;
}

ExitCode run_level_list(Invocation& invocation) {
  std::vector<Level> levels;
  invocation.database()->read([&](Session& session) { levels = all_levels(session); });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(levels));
    return ExitCode::done;
  }
  terminal::Table table{{{.title = "RANK", .align = Align::right},
                         {.title = "ID", .align = Align::right},
                         {.title = "LEVEL"},
                         {.title = "REACHED WHEN", .may_shrink = true}}};
  for (const Level& level : levels) {
    const bool is_lowest = level.id == levels.front().id;
    table.add_row({std::to_string(level.rank), std::to_string(level.id), level.name,
                   level.criteria.value_or(is_lowest ? "joining" : "given by hand")});
  }
  table.print(invocation.console.out, invocation.console.out_screen);
  return ExitCode::done;
}

ExitCode run_level_figures(Invocation& invocation) {
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of_figures());
    return ExitCode::done;
  }
  terminal::Table table{{{.title = "FIGURE"}, {.title = "MEANING", .may_shrink = true}}};
  for (const FigureInfo& figure : kFigures) {
    table.add_row({std::string{figure.name}, std::string{figure.meaning}});
  }
  table.print(invocation.console.out, invocation.console.out_screen);
  return ExitCode::done;
}

}  // namespace errand::distributors
