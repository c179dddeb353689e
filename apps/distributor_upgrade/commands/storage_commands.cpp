#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/model/sample_data.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/wording.hpp"

namespace errand::distributors {

ExitCode run_setup(const SetupOptions& options, Invocation& invocation) {
  DatabaseOptions create;
  create.create = true;
  const Dsn dsn = invocation.dsn();
  // The transports check the DSN's options, and turn SQLite's file to WAL.
  const auto checks = invocation.checks();
  const auto failures = invocation.failures();
  checks->setup();
  failures->setup();
  const auto database = open_database(dsn, create);
  database->setup();
  bool may_skip = false;
  database->write([&](Session& session) {
    if (!options.skip_levels.empty()) set_skip_levels(session, options.skip_levels == "yes");
    may_skip = may_skip_levels(session);
  });
  if (invocation.json) {
    terminal::print_json(invocation.console,
                         json_of(JsonMembers{{"dsn", dsn.to_string()}, {"skipLevels", may_skip}}));
    return ExitCode::done;
  }
  fmt::print(invocation.console.out, "{} is ready; levels {} be skipped\n",
             terminal::printable(dsn.to_string()), may_skip ? "may" : "may not");
  return ExitCode::done;
}

ExitCode run_seed(const SeedOptions& options, Invocation& invocation) {
  const auto database = invocation.database();
  std::int64_t before = 0;
  bool has_levels = false;
  database->read([&](Session& session) {
    before = count_distributors(session);
    has_levels = !all_levels(session).empty();
  });
  if (options.count == 0 || !has_levels) add_readable_sample(*database);
  if (options.count > 0) {
    terminal::LiveLine line{invocation.console.err, invocation.console.err_screen};
    add_crowd(*database, options.count, [&](std::int64_t done) {
      line.show(terminal::format_progress({.done = done, .total = options.count}));
    });
  }
  std::int64_t after = 0;
  database->read([&](Session& session) { after = count_distributors(session); });
  if (invocation.json) {
    terminal::print_json(invocation.console,
                         json_of(JsonMembers{{"distributorsAdded", after - before}}));
  } else if (options.count > 0) {
    fmt::print(invocation.console.out, "{} distributors added\n",
               terminal::format_count(after - before));
  } else {
    fmt::print(invocation.console.out,
               "5 levels, 7 distributors, some withdrawals; try\n"
               "  errand-distributors distributor tree\n"
               "  errand-distributors withdraw list\n"
               "  errand-distributors withdraw complete 2 && errand-distributors worker --drain\n");
  }
  return ExitCode::done;
}

}  // namespace errand::distributors
