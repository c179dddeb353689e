#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/found_tasks.hpp"
#include "cli/options.hpp"
#include "cli/page_options.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"

namespace errand::cli {
namespace {

struct CancelCommand {
  std::vector<std::string> ids;
  PageOptions filter;
  bool all = false;
  bool json = false;
};

/// What became of the wish to cancel one task, for programs and for people.
struct Answer {
  std::string_view word;
  ExitCode code = ExitCode::done;
  std::string done;     ///< for standard output; empty if nothing was done
  std::string refusal;  ///< for standard error; empty if it was done
};

Answer not_found(TaskId id) {
  return {.word = "not_found",
          .code = ExitCode::not_found,
          .done = {},
          .refusal = TaskNotFoundException{id}.what()};
}

/// Too late is a failure, except for a task that is as it was wished to be.
Answer too_late(TaskId id, Engine& engine) {
  const std::optional<TaskRecord> task = engine.catalog().find(id);
  if (!task) return not_found(id);
  if (task->data.status == TaskStatus::cancelled) {
    return {.word = "already_cancelled",
            .code = ExitCode::done,
            .done = fmt::format("{} was cancelled already", id.to_string()),
            .refusal = {}};
  }
  return {.word = "already_final",
          .code = ExitCode::failed,
          .done = {},
          .refusal = fmt::format("task {} is {} already: it cannot be cancelled any more",
                                 id.to_string(), to_string(task->data.status))};
}

Answer answer_for(TaskId id, CancelStatus status, Engine& engine) {
  switch (status) {
    case CancelStatus::cancelled:
      return {.word = "cancelled",
              .code = ExitCode::done,
              .done = fmt::format("{} cancelled", id.to_string()),
              .refusal = {}};
    case CancelStatus::requested:
      return {.word = "requested",
              .code = ExitCode::done,
              .done = fmt::format("{} is running: asked to stop", id.to_string()),
              .refusal = {}};
    case CancelStatus::already_final:
      return too_late(id, engine);
    case CancelStatus::not_found:
      break;
  }
  return not_found(id);
}

ExitCode cancel_named(const CancelCommand& command, Engine& engine, Console& console) {
  const std::vector<TaskId> ids = parse_ids(command.ids);
  const std::vector<CancelStatus> statuses = engine.queue().cancel(ids);
  ExitCode first_bad = ExitCode::done;
  boost::json::array outcomes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Answer answer = answer_for(ids[i], statuses[i], engine);
    outcomes.push_back(
        boost::json::object{{"taskId", ids[i].to_string()}, {"outcome", std::string{answer.word}}});
    if (!answer.refusal.empty()) fmt::print(console.err, "errand: {}\n", answer.refusal);
    if (!answer.done.empty() && !command.json) fmt::print(console.out, "{}\n", answer.done);
    if (first_bad == ExitCode::done) first_bad = answer.code;
  }
  if (command.json) print_json(console, boost::json::serialize(outcomes));
  return first_bad;
}

ExitCode cancel_found(const CancelCommand& command, Engine& engine, Console& console) {
  std::int64_t cancelled = 0;
  std::int64_t requested = 0;
  {
    terminal::LiveLine line{console.err, console.err_screen};
    ChangeOfFound each;
    each.apply = [&](std::span<const TaskId> ids) {
      for (const CancelStatus status : engine.queue().cancel(ids)) {
        cancelled += status == CancelStatus::cancelled ? 1 : 0;
        requested += status == CancelStatus::requested ? 1 : 0;
      }
      line.show(fmt::format("{} so far", format_tasks(cancelled + requested)));
    };
    change_found(
        engine.catalog(),
        command.filter.filter({TaskStatus::pending, TaskStatus::retrying, TaskStatus::running}),
        each);
  }
  if (command.json) {
    print_json(console, boost::json::serialize(boost::json::object{{"cancelled", cancelled},
                                                                   {"requested", requested}}));
    return ExitCode::done;
  }
  fmt::print(console.out, "Cancelled {}", format_tasks(cancelled));
  if (requested > 0) {
    fmt::print(console.out, ", asked {} to stop", format_tasks(requested, "running"));
  }
  console.out << '\n';
  return ExitCode::done;
}

ExitCode cancel(const CancelCommand& command, Invocation& invocation) {
  const bool by_filter =
      command.all || !command.filter.type.empty() || !command.filter.queue.empty();
  require_one_choice(!command.ids.empty(), by_filter, "--type TYPE, --queue QUEUE");
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  return by_filter ? cancel_found(command, *engine, invocation.console)
                   : cancel_named(command, *engine, invocation.console);
}

}  // namespace

void add_cancel(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<CancelCommand>();
  CLI::App& command = add_command(
      parent, "cancel", "Cancel tasks that wait; ask running ones to stop", kTaskCommands);
  add_ids(command, options->ids, "The tasks");
  add_filter(command, options->filter);
  add_flag(command, "--all", options->all, "All tasks that wait or run");
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand cancel 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            R"(errand cancel "$id" && errand wait "$id")",
                            "errand cancel --type report.build --queue reports",
                        });
  runs(command, invocation, options, cancel);
}

}  // namespace errand::cli
