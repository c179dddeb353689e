#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/paint.hpp"
#include "terminal/table.hpp"

namespace errand::distributors {

using Align = terminal::Column::Align;

ExitCode run_distributor_add(const DistributorAddOptions& options, Invocation& invocation) {
  std::int64_t id = 0;
  invocation.database()->write(
      [&](Session& session) { id = add_distributor(session, options.name, options.sponsor); });
  invocation.print_id(id);
  return ExitCode::done;
}

ExitCode run_distributor_show(std::int64_t id, Invocation& invocation) {
  Distributor distributor;
  std::string sponsor = "none";
  Figures figures;
  invocation.database()->read([&](Session& session) {
    distributor = get_distributor(session, id);
    if (distributor.sponsor_id) {
      sponsor = fmt::format("{} #{}", get_distributor(session, *distributor.sponsor_id).name,
                            *distributor.sponsor_id);
    }
    UpgradeContext context = UpgradeContextProvider::find(session, id).value();
    UpgradeContextProvider::add_team(session, context);
    figures = context.figures;
  });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(distributor, figures));
    return ExitCode::done;
  }
  const auto line = [&](std::string_view name, const std::string& text) {
    fmt::print(invocation.console.out, "{:<20} {}\n", name, terminal::printable(text));
  };
  line("id", std::to_string(distributor.id));
  line("name", distributor.name);
  line("sponsor", sponsor);
  line("level", distributor.level + ", since " + to_iso8601(distributor.level_since));
  line("joined", to_iso8601(distributor.joined_at));
  for (const FigureInfo& figure : kFigures) {
    line(figure.name, figures.text(figure.figure));
  }
  return ExitCode::done;
}

ExitCode run_distributor_list(const DistributorListOptions& options, Invocation& invocation) {
  std::vector<Distributor> distributors;
  invocation.database()->read([&](Session& session) {
    distributors =
        list_distributors(session, options.after, static_cast<std::size_t>(options.limit));
  });
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(distributors));
    return ExitCode::done;
  }
  terminal::Table table{{{.title = "ID", .align = Align::right},
                         {.title = "NAME", .may_shrink = true},
                         {.title = "LEVEL"},
                         {.title = "SPONSOR", .align = Align::right}}};
  for (const Distributor& distributor : distributors) {
    table.add_row({std::to_string(distributor.id), distributor.name, distributor.level,
                   distributor.sponsor_id ? std::to_string(*distributor.sponsor_id) : ""});
  }
  table.print(invocation.console.out, invocation.console.out_screen);
  return ExitCode::done;
}

ExitCode run_distributor_set_level(const DistributorSetLevelOptions& options,
                                   Invocation& invocation) {
  const auto database = invocation.database();
  const Upgrade made = DistributorUpgradeService{*database}.give_level(options.id, options.level);
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(made));
  } else {
    fmt::print(invocation.console.out, "{} (distributor {}) was {} and is {} now\n",
               terminal::printable(made.name), made.distributor_id,
               terminal::printable(made.previous_level), terminal::printable(made.new_level));
  }
  return ExitCode::done;
}

ExitCode run_distributor_tree(const DistributorTreeOptions& options, Invocation& invocation) {
  std::vector<TeamMember> team;
  invocation.database()->read([&](Session& session) {
    if (options.id) (void)get_distributor(session, *options.id);
    // One more than is shown, to know whether there are more.
    team = team_of(session, options.id, static_cast<int>(options.depth),
                   static_cast<std::size_t>(options.limit) + 1);
  });
  const bool is_cut = team.size() > static_cast<std::size_t>(options.limit);
  if (is_cut) team.pop_back();
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(team));
    return ExitCode::done;
  }
  for (const TeamMember& member : team) {
    // Only a ring of sponsors begins with somebody who has one.
    const auto& sponsor = member.distributor.sponsor_id;
    const bool is_ring = !options.id && member.depth == 0 && sponsor;
    fmt::print(invocation.console.out, "{}{}  {} {}{}\n",
               std::string(static_cast<std::size_t>(member.depth) * 3, ' '),
               terminal::printable(member.distributor.name),
               terminal::paint(terminal::printable(member.distributor.level),
                               terminal::Colour::green, invocation.console.out_screen),
               terminal::paint("#" + std::to_string(member.distributor.id), terminal::Colour::dim,
                               invocation.console.out_screen),
               is_ring ? fmt::format("  sponsored by #{}: a ring", *sponsor) : "");
  }
  if (is_cut) {
    fmt::print(invocation.console.err, "there are more than {}; see --limit\n", options.limit);
  }
  return ExitCode::done;
}

}  // namespace errand::distributors
