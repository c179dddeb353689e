#include "invoice_intake/intake/purge.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>

#include "invoice_intake/commands/commands.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/wording.hpp"

namespace errand::invoices {
namespace {

struct PurgeCommand {
  std::chrono::milliseconds older_than = std::chrono::days{365};
  bool dry_run = false;
  bool json = false;
};

ExitCode purge_old(const PurgeCommand& command, Invocation& invocation) {
  const std::unique_ptr<Database> database = invocation.database();
  const Originals originals{invocation.originals()};
  const PurgeReport report = purge(*database, originals,
                                   {.older_than = command.older_than,
                                    .user = invocation.chosen_user(*database),
                                    .dry_run = command.dry_run});
  if (command.json) {
    terminal::print_json(invocation.console,
                         boost::json::serialize(boost::json::object{{"tasks", report.tasks},
                                                                    {"originals", report.originals},
                                                                    {"bytes", report.bytes},
                                                                    {"dry_run", command.dry_run}}));
    return ExitCode::done;
  }
  fmt::print(invocation.console.out, "{} the content of {} tasks, and {} originals of {} KiB\n",
             command.dry_run ? "Would remove" : "Removed", terminal::format_count(report.tasks),
             terminal::format_count(report.originals),
             terminal::format_count((report.bytes + 1023) / 1024));
  return ExitCode::done;
}

}  // namespace

void add_purge(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<PurgeCommand>();
  CLI::App& command = terminal::add_command(parent, "purge",
                                            "Remove texts and originals of tasks that ended long "
                                            "ago; who, when, results and invoices stay",
                                            kStorageCommands);
  terminal::add_duration(command, "--older-than", options->older_than,
                         "Ended, or deleted, longer ago than this (default: 365d)");
  terminal::add_flag(command, "--dry-run", options->dry_run, "Only count what would go");
  terminal::add_text(command, "-u,--user", invocation.user_option, "USER",
                     "Only this one's (default: everybody's)")
      .not_empty();
  add_originals(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  terminal::add_examples(command, {"errand-invoices purge --older-than 90d --dry-run",
                                   "errand-invoices purge --older-than 90d"});
  runs(command, invocation, options, purge_old);
}

}  // namespace errand::invoices
