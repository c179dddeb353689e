#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
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
  fmt::print(invocation.out, "{} is ready; levels {} be skipped\n", printable(dsn.to_string()),
             may_skip ? "may" : "may not");
  return ExitCode::done;
}

ExitCode run_seed(const SeedOptions& options, Invocation& invocation) {
  const auto database = invocation.database();
  if (options.count == 0) {
    add_readable_sample(*database);
    fmt::print(invocation.out,
               "5 levels, 7 distributors, some withdrawals; try\n"
               "  errand-distributors distributor tree\n"
               "  errand-distributors withdraw list\n"
               "  errand-distributors withdraw complete 2 && errand-distributors worker --drain\n");
    return ExitCode::done;
  }
  bool has_levels = false;
  database->read([&](Session& session) { has_levels = !all_levels(session).empty(); });
  if (!has_levels) add_readable_sample(*database);
  add_crowd(*database, options.count, [&](std::int64_t done) {
    if (!invocation.err_screen.is_terminal) return;
    fmt::print(invocation.err, "\r{} of {}\x1b[K", format_count(done), format_count(options.count));
    invocation.err.flush();
  });
  if (invocation.err_screen.is_terminal) fmt::print(invocation.err, "\r\x1b[K");
  fmt::print(invocation.out, "{} distributors added\n", format_count(options.count));
  return ExitCode::done;
}

}  // namespace errand::distributors
