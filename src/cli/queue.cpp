#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <fmt/ostream.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"

#include "app/switched_queue.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/stats_view.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct SwitchCommand {
  std::vector<std::string> queues;
  bool json = false;
};

using detail::look_at_queues;
using detail::SwitchedQueue;

void print_switched(const std::vector<SwitchedQueue>& queues, bool paused, Console& console) {
  boost::json::array items;
  for (const SwitchedQueue& queue : queues) {
    items.push_back(detail::to_json(queue, paused));
  }
  print_json(console, boost::json::serialize(items));
}

ExitCode pause(const SwitchCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const std::vector<SwitchedQueue> queues = look_at_queues(command.queues, *engine);
  engine->queue().pause(command.queues);
  Console& console = invocation.console;
  if (command.json) {
    print_switched(queues, true, console);
    return ExitCode::done;
  }
  for (const SwitchedQueue& queue : queues) {
    fmt::print(console.out, "Paused queue '{}': {}\n", terminal::printable(queue.name),
               queue.is_unused() ? "it has no tasks and no worker yet" : "its tasks wait");
  }
  return ExitCode::done;
}

ExitCode resume(const SwitchCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const std::vector<SwitchedQueue> queues = look_at_queues(command.queues, *engine);
  engine->queue().resume(command.queues);
  Console& console = invocation.console;
  if (command.json) {
    print_switched(queues, false, console);
    return ExitCode::done;
  }
  for (const SwitchedQueue& queue : queues) {
    const std::string name = terminal::printable(queue.name);
    const char* unused = queue.is_unused() ? ": it has no tasks and no worker yet" : "";
    if (queue.was_paused) {
      fmt::print(console.out, "Resumed queue '{}'{}\n", name, unused);
    } else {
      fmt::print(console.out, "Queue '{}' was not paused{}\n", name, unused);
    }
  }
  return ExitCode::done;
}

void add_switch(CLI::App& parent, Invocation& invocation, const std::string& name,
                const std::string& purpose,
                ExitCode (*command)(const SwitchCommand&, Invocation&)) {
  const auto options = std::make_shared<SwitchCommand>();
  CLI::App& sub = add_command(parent, name, purpose);
  add_argument(sub, "QUEUE", options->queues, "The queues").required();
  add_json(sub, options->json);
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
