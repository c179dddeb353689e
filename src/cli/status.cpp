#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/task_json.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct StatusCommand {
  std::vector<std::string> ids;
  bool json = false;
};

ExitCode status(const StatusCommand& command, Invocation& invocation) {
  Console& console = invocation.console;
  const std::vector<TaskId> ids = parse_ids(command.ids);
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);

  std::vector<TaskRecord> tasks;
  ExitCode code = ExitCode::done;
  for (const TaskId id : ids) {
    std::optional<TaskRecord> task = engine->catalog().find(id);
    if (!task) {
      code = report(std::make_exception_ptr(TaskNotFoundException{id}), console);
    } else if (task->expired) {
      code = report(std::make_exception_ptr(TaskExpiredException{id}), console);
    } else {
      tasks.push_back(*std::move(task));
    }
  }

  if (command.json && ids.size() > 1) {
    print_json(console, json_array(tasks));
  } else if (command.json && !tasks.empty()) {
    print_json(console, to_json(tasks.front()));
  } else if (ids.size() > 1 && !tasks.empty()) {
    print_tasks(console.out, tasks, system_clock().now(), console.out_screen);
  } else if (!tasks.empty()) {
    print_task(console.out, tasks.front(), system_clock().now(), console.out_screen);
  }
  return code;
}

}  // namespace

void add_status(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<StatusCommand>();
  CLI::App& command = add_command(parent, "status", "Show how tasks stand", kTaskCommands);
  add_ids(command, options->ids, "The tasks: all about one, a row for each of several").required();
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand status 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            "errand status $(cat ids.txt)",
                            R"(errand status "$id" --json | jq -r .status)",
                        });
  runs(command, invocation, options, status);
}

}  // namespace errand::cli
