#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/commands/table.hpp"
#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/upgrade/context_provider.hpp"

namespace errand::distributors {

ExitCode run_distributor_add(const DistributorAddOptions& options, Invocation& invocation) {
  std::int64_t id = 0;
  invocation.database()->write(
      [&](Session& session) { id = add_distributor(session, options.name, options.sponsor); });
  fmt::print(invocation.out, "{}\n", id);
  return ExitCode::done;
}

ExitCode run_distributor_show(std::int64_t id, Invocation& invocation) {
  Distributor distributor;
  Figures figures;
  invocation.database()->read([&](Session& session) {
    distributor = get_distributor(session, id);
    figures =
        UpgradeContextProvider::contexts(session, {&id, 1}, UpgradeContextProvider::Lock::none)
            .at(0)
            .figures;
  });
  if (invocation.json) {
    invocation.print_json(json_of(distributor, figures));
    return ExitCode::done;
  }
  const auto line = [&](std::string_view name, const std::string& text) {
    fmt::print(invocation.out, "{:<20} {}\n", name, printable(text));
  };
  line("id", std::to_string(distributor.id));
  line("name", distributor.name);
  line("sponsor", distributor.sponsor_id ? std::to_string(*distributor.sponsor_id) : "none");
  line("level", distributor.level + ", since " + to_iso8601(distributor.level_since));
  line("joined", to_iso8601(distributor.joined_at));
  for (const FigureInfo& figure : kFigures) {
    line(figure.name, figures.text(figure.figure));
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
    invocation.print_json(json_of(team));
    return ExitCode::done;
  }
  for (const TeamMember& member : team) {
    fmt::print(
        invocation.out, "{}{}  {} {}\n",
        std::string(static_cast<std::size_t>(member.depth) * 3, ' '),
        printable(member.distributor.name),
        paint(printable(member.distributor.level), Colour::green, invocation.out_screen),
        paint("#" + std::to_string(member.distributor.id), Colour::dim, invocation.out_screen));
  }
  if (is_cut) {
    fmt::print(invocation.err, "there are more than {}; see --limit\n", options.limit);
  }
  return ExitCode::done;
}

}  // namespace errand::distributors
