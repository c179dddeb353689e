#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/stats_view.hpp"
#include "terminal/display.hpp"

namespace errand::cli {
namespace {

struct SwitchCommand {
  std::vector<std::string> queues;
};

ExitCode pause(const SwitchCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  engine->queue().pause(command.queues);
  for (const std::string& queue : command.queues) {
    fmt::print(invocation.console.out, "Paused queue '{}': its tasks wait\n",
               terminal::printable(queue));
  }
  return ExitCode::done;
}

ExitCode resume(const SwitchCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  engine->queue().resume(command.queues);
  for (const std::string& queue : command.queues) {
    fmt::print(invocation.console.out, "Resumed queue '{}'\n", terminal::printable(queue));
  }
  return ExitCode::done;
}

void add_switch(CLI::App& parent, Invocation& invocation, const std::string& name,
                const std::string& purpose,
                ExitCode (*command)(const SwitchCommand&, Invocation&)) {
  const auto options = std::make_shared<SwitchCommand>();
  CLI::App& sub = add_command(parent, name, purpose);
  add_argument(sub, "QUEUE", options->queues, "The queues").required();
  add_dsn(sub, invocation);
  add_examples(sub, {"errand queue " + name + " mail"});
  runs(sub, invocation, options, command);
}

struct QueueListCommand {
  bool json = false;
};

ExitCode list_queues(const QueueListCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const std::vector<QueueStats> queues = engine->catalog().stats().queues;
  Console& console = invocation.console;
  if (command.json) {
    print_json(console, boost::json::serialize(to_json(queues)));
  } else {
    print_queues(console.out, queues, console.out_screen);
  }
  return ExitCode::done;
}

void add_queue_list(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<QueueListCommand>();
  CLI::App& command =
      add_command(parent, "list", "Show the queues that have open tasks or are paused");
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {"errand queue list", "errand queue list --json | jq '.[].due'"});
  runs(command, invocation, options, list_queues);
}

}  // namespace

void add_queue(CLI::App& parent, Invocation& invocation) {
  CLI::App& group = add_command(parent, "queue", "Pause, resume and list queues", kWorkerCommands);
  require_command(group);
  add_switch(group, invocation, "pause",
             "Let tasks of these queues wait: workers go on with the others", pause);
  add_switch(group, invocation, "resume", "Let the tasks of paused queues run again", resume);
  add_queue_list(group, invocation);
  add_dsn(group, invocation);
  add_examples(group, {"errand queue pause mail", "errand queue list"});
}

}  // namespace errand::cli
