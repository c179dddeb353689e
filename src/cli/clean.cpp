#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <fmt/ostream.h>
#include <memory>
#include <optional>

#include "errand/engine.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct CleanCommand {
  std::optional<std::chrono::milliseconds> older_than;
  bool json = false;
};

ExitCode clean(const CleanCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const auto age = command.older_than.value_or(engine->ttl());
  const auto cleaned =
      static_cast<std::int64_t>(engine->storage().delete_expired_tasks(engine->now() - age));
  Console& console = invocation.console;
  if (command.json) {
    print_json(console, boost::json::serialize(boost::json::object{{"cleaned", cleaned}}));
  } else {
    fmt::print(console.out, "Cleaned {}\n", format_tasks(cleaned, "expired"));
  }
  return ExitCode::done;
}

}  // namespace

void add_clean(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<CleanCommand>();
  CLI::App& command = add_command(
      parent, "clean", "Delete tasks that ended long ago; meant for cron", kOperatorCommands);
  add_duration(command, "--older-than", options->older_than,
               "Those that ended longer ago than this; if left out, the DSN's ttl, else 24h");
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand clean",
                            "errand clean --older-than 7d",
                            "0 * * * * errand clean --dsn sqlite:/var/lib/shop/tasks.db",
                        });
  runs(command, invocation, options, clean);
}

}  // namespace errand::cli
