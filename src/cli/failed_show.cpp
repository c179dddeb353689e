#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <string>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/failed_messages.hpp"
#include "cli/options.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct FailedShowCommand {
  std::string id;
  TransportChoice transport;
  bool json = false;
};

ExitCode show_failed(const FailedShowCommand& command, Invocation& invocation) {
  if (command.transport.is_given()) {
    return show_failed_message(command.transport, command.id, command.json, invocation.console);
  }
  require_task_ids({command.id});
  const TaskId id = TaskId::from_string(command.id);
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const std::optional<TaskRecord> task = engine->catalog().find(id);
  if (!task) throw TaskNotFoundException{id};
  Console& console = invocation.console;
  if (task->data.status != TaskStatus::failed) {
    fmt::print(console.err, "errand: task {0} is {1}, not failed: errand status {0} shows it\n",
               id.to_string(), to_string(task->data.status));
    return ExitCode::failed;
  }
  if (command.json) {
    print_json(console, to_json(*task));
  } else {
    print_task(console.out, *task, system_clock().now(), console.out_screen);
  }
  return ExitCode::done;
}

}  // namespace

void add_failed_show(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<FailedShowCommand>();
  CLI::App& command =
      add_command(parent, "show",
                  "Show a failed task with its error, even after it has expired; with --transport, "
                  "a failed message");
  add_argument(command, "ID", options->id, "The task, or the message").required();
  add_failure_transport(command, options->transport);
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {"errand failed show 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                         "errand failed show 42 --transport failed"});
  runs(command, invocation, options, show_failed);
}

}  // namespace errand::cli
