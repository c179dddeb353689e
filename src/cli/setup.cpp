#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <string>

#include "errand/engine.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct SetupCommand {
  bool dump_sql = false;
  bool json = false;
};

std::string describe(const std::string& dsn, int from, int to) {
  if (from == to) return fmt::format("{} is up to date: schema version {}", dsn, to);
  if (from == 0) return fmt::format("{} is set up: schema version {}", dsn, to);
  return fmt::format("{} is migrated from schema version {} to {}", dsn, from, to);
}

ExitCode setup(const SetupCommand& command, Invocation& invocation) {
  const Dsn dsn = invocation.dsn();
  Console& console = invocation.console;
  if (command.dump_sql) {
    console.out << schema_script(dsn);
    return ExitCode::done;
  }
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::any_schema);
  const int from = engine->schema().installed_version();
  engine->schema().migrate();
  const int to = engine->schema().installed_version();
  if (command.json) {
    print_json(console, boost::json::serialize(boost::json::object{
                            {"dsn", dsn.to_string()}, {"from", from}, {"to", to}}));
  } else {
    fmt::print(console.out, "{}\n", terminal::printable(describe(dsn.to_string(), from, to)));
  }
  return ExitCode::done;
}

}  // namespace

void add_setup(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<SetupCommand>();
  CLI::App& command = add_command(
      parent, "setup", "Create the storage, or bring an older one up to date", kStorageCommands);
  add_flag(command, "--dump-sql", options->dump_sql,
           "Print the SQL that makes an empty storage ready, and touch nothing");
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand setup --dsn sqlite:/var/lib/shop/tasks.db",
                            "errand setup --dump-sql > schema.sql",
                        });
  runs(command, invocation, options, setup);
}

}  // namespace errand::cli
