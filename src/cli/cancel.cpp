#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"

namespace errand::cli {
namespace {

struct CancelCommand {
  std::vector<std::string> ids;
  bool json = false;
};

std::string_view word_for(CancelStatus status) {
  switch (status) {
    case CancelStatus::cancelled:
      return "cancelled";
    case CancelStatus::requested:
      return "requested";
    case CancelStatus::already_final:
      return "already_final";
    case CancelStatus::not_found:
      break;
  }
  return "not_found";
}

/// Too late is a failure, except for a task that is cancelled already.
ExitCode tell_too_late(TaskId id, Engine& engine, Console& console) {
  const std::optional<TaskRecord> task = engine.catalog().find(id);
  if (!task) return report(std::make_exception_ptr(TaskNotFoundException{id}), console);
  if (task->data.status == TaskStatus::cancelled) return ExitCode::done;
  fmt::print(console.err, "errand: task {} is {} already: it cannot be cancelled any more\n",
             id.to_string(), to_string(task->data.status));
  return ExitCode::failed;
}

ExitCode tell(TaskId id, CancelStatus status, bool json, Engine& engine, Console& console) {
  switch (status) {
    case CancelStatus::cancelled:
      if (!json) fmt::print(console.out, "{} cancelled\n", id.to_string());
      return ExitCode::done;
    case CancelStatus::requested:
      if (!json) fmt::print(console.out, "{} is running: asked to stop\n", id.to_string());
      return ExitCode::done;
    case CancelStatus::already_final:
      return tell_too_late(id, engine, console);
    case CancelStatus::not_found:
      break;
  }
  return report(std::make_exception_ptr(TaskNotFoundException{id}), console);
}

ExitCode cancel(const CancelCommand& command, Invocation& invocation) {
  const std::vector<TaskId> ids = parse_ids(command.ids);
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const std::vector<CancelStatus> statuses = engine->queue().cancel(ids);

  ExitCode first_bad = ExitCode::done;
  boost::json::array outcomes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    outcomes.push_back(boost::json::object{{"taskId", ids[i].to_string()},
                                           {"outcome", std::string{word_for(statuses[i])}}});
    const ExitCode code = tell(ids[i], statuses[i], command.json, *engine, invocation.console);
    if (first_bad == ExitCode::done) first_bad = code;
  }
  if (command.json) print_json(invocation.console, boost::json::serialize(outcomes));
  return first_bad;
}

}  // namespace

void add_cancel(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<CancelCommand>();
  CLI::App& command = add_command(
      parent, "cancel", "Cancel tasks that wait; ask running ones to stop", kTaskCommands);
  add_ids(command, options->ids, "The tasks").required();
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand cancel 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            R"(errand cancel "$id" && errand wait "$id")",
                        });
  runs(command, invocation, options, cancel);
}

}  // namespace errand::cli
