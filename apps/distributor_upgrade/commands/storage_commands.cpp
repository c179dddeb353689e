#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/model/sample_data.hpp"

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
    invocation.print_json(json_of(JsonMembers{{"dsn", dsn.to_string()}, {"skipLevels", may_skip}}));
    return ExitCode::done;
  }
  fmt::print(invocation.out, "{} is ready; levels {} be skipped\n", printable(dsn.to_string()),
             may_skip ? "may" : "may not");
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
    add_crowd(*database, options.count, [&](std::int64_t done) {
      if (!invocation.err_screen.is_terminal) return;
      fmt::print(invocation.err, "\r{} of {}\x1b[K", format_count(done),
                 format_count(options.count));
      invocation.err.flush();
    });
    if (invocation.err_screen.is_terminal) fmt::print(invocation.err, "\r\x1b[K");
  }
  std::int64_t after = 0;
  database->read([&](Session& session) { after = count_distributors(session); });
  if (invocation.json) {
    invocation.print_json(json_of(JsonMembers{{"distributorsAdded", after - before}}));
  } else if (options.count > 0) {
    fmt::print(invocation.out, "{} distributors added\n", format_count(after - before));
  } else {
    fmt::print(invocation.out,
               "5 levels, 7 distributors, some withdrawals; try\n"
               "  errand-distributors distributor tree\n"
               "  errand-distributors withdraw list\n"
               "  errand-distributors withdraw complete 2 && errand-distributors worker --drain\n");
  }
  return ExitCode::done;
}

}  // namespace errand::distributors
