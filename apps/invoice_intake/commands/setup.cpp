#include "invoice_intake/store/setup.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>

#include "invoice_intake/commands/commands.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct SetupCommand {
  SetupOptions options;
  std::string role_password_file;
  bool dump_sql = false;
  bool json = false;
};

ExitCode setup(const SetupCommand& command, Invocation& invocation) {
  const Dsn dsn = invocation.dsn();
  Console& console = invocation.console;
  if (command.dump_sql) {
    console.out << setup_script(dsn);
    return ExitCode::done;
  }
  SetupOptions options = command.options;
  const std::string password =
      read_secret(command.role_password_file, "ERRAND_INVOICES_ROLE_PASSWORD");
  if (!password.empty()) options.role_password = password;
  const SetupReport report = set_up(dsn, options);
  if (command.json) {
    boost::json::array notes;
    for (const std::string& note : report.notes) notes.emplace_back(note);
    terminal::print_json(
        console,
        boost::json::serialize(boost::json::object{
            {"dsn", dsn.to_string()}, {"created", report.created}, {"notes", std::move(notes)}}));
    return ExitCode::done;
  }
  fmt::print(console.out, "{} is {}\n", terminal::printable(dsn.to_string()),
             report.created ? "set up" : "up to date");
  if (dsn.kind() == EngineKind::postgres) {
    fmt::print(console.out, "programs connect as the role {}, which row-level security holds\n",
               options.role);
  }
  for (const std::string& note : report.notes) {
    fmt::print(console.out, "note: {}\n", terminal::printable(note));
  }
  return ExitCode::done;
}

}  // namespace

void add_setup(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<SetupCommand>();
  CLI::App& command = terminal::add_command(
      parent, "setup", "Make the tables, and on PostgreSQL the program's role", kStorageCommands);
  terminal::add_text(command, "--role", options->options.role, "NAME",
                     "PostgreSQL: the role that programs connect as (default: errand_invoices)");
  terminal::add_text(command, "--role-password-file", options->role_password_file,
                     terminal::kFileName,
                     "PostgreSQL: give the role the password in this file, or in "
                     "$ERRAND_INVOICES_ROLE_PASSWORD");
  terminal::add_flag(command, "--dump-sql", options->dump_sql,
                     "Print the SQL that makes an empty database ready, and touch nothing");
  add_json(command, options->json);
  add_dsn(command, invocation);
  terminal::add_examples(
      command, {
                   "errand-invoices setup",
                   "errand-invoices setup --dsn postgresql://owner@db.example/invoices",
                   "errand-invoices setup --dsn postgresql:///invoices --dump-sql > invoices.sql",
               });
  runs(command, invocation, options, setup);
}

}  // namespace errand::invoices
