#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <fmt/ostream.h>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/failed_messages.hpp"
#include "cli/failure_filter.hpp"
#include "cli/found_tasks.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"

/// `errand failed retry` and `errand failed remove`: the same choice of tasks, two things to do.
namespace errand::cli {
namespace {

constexpr std::size_t kBatch = 1000;

struct ChangeCommand {
  std::vector<std::string> ids;
  FailureFilter filter;
  TransportChoice transport;
  std::string to;
  bool all = false;
  bool yes = false;
  bool interactive = false;
  bool json = false;
};

struct Change {
  std::string_view done;      ///< "Queued again", for people
  std::string_view json_key;  ///< "retried", for programs
  std::function<std::size_t(TaskQueue&, std::span<const TaskId>)> apply;
};

const Change kRetry{"Queued again", "retried", [](TaskQueue& queue, std::span<const TaskId> ids) {
                      return queue.requeue(ids);
                    }};
const Change kRemove{"Removed", "removed", [](TaskQueue& queue, std::span<const TaskId> ids) {
                       return queue.discard(ids);
                     }};

struct Outcome {
  std::size_t changed = 0;
  ExitCode code = ExitCode::done;

  /// The first task that could not be changed gives the exit code.
  void blame(ExitCode reason) {
    if (code == ExitCode::done) code = reason;
  }
};

void require_choice(const ChangeCommand& command) {
  require_one_choice(!command.ids.empty(), command.all || command.filter.narrows(),
                     "--type TYPE, --queue QUEUE, --class NAME");
}

/// Tasks that were named: those that did not fail are left alone, and told.
Outcome change_named(const ChangeCommand& command, const Change& change, Engine& engine,
                     Console& console) {
  Outcome outcome;
  std::vector<TaskId> ids;
  for (const TaskId id : parse_ids(command.ids)) {
    const std::optional<TaskRecord> task = engine.catalog().find(id);
    if (!task) {
      outcome.blame(report(std::make_exception_ptr(TaskNotFoundException{id}), console));
    } else if (!next(task->data.status, TaskEvent::requeue)) {
      fmt::print(console.err, "errand: task {} is {}, not failed: it is left alone\n",
                 id.to_string(), to_string(task->data.status));
      outcome.blame(ExitCode::failed);
    } else {
      ids.push_back(id);
    }
  }
  for (std::size_t i = 0; i < ids.size(); i += kBatch) {
    outcome.changed +=
        change.apply(engine.queue(), std::span{ids}.subspan(i, std::min(kBatch, ids.size() - i)));
  }
  return outcome;
}

Outcome change_filtered(const ChangeCommand& command, const Change& change, Engine& engine,
                        Console& console) {
  terminal::LiveLine line{console.err, console.err_screen};
  Outcome outcome;
  ChangeOfFound each;
  if (!command.filter.error_class.empty()) {
    each.only = [&](const TaskRecord& task) { return command.filter.chooses(task); };
  }
  each.apply = [&](std::span<const TaskId> ids) {
    outcome.changed += change.apply(engine.queue(), ids);
    line.show(fmt::format("{} so far", format_tasks(static_cast<std::int64_t>(outcome.changed))));
  };
  change_found(engine.catalog(), command.filter.tasks(), each);
  return outcome;
}

ExitCode change_failed(const ChangeCommand& command, const Change& change, Engine& engine,
                       Console& console) {
  const Outcome outcome = command.ids.empty() ? change_filtered(command, change, engine, console)
                                              : change_named(command, change, engine, console);
  if (command.json) {
    print_json(console,
               boost::json::serialize(boost::json::object{{change.json_key, outcome.changed}}));
  } else {
    fmt::print(console.out, "{} {}\n", change.done,
               format_tasks(static_cast<std::int64_t>(outcome.changed)));
  }
  return outcome.code;
}

ChosenMessages chosen_messages(const ChangeCommand& command) {
  return {.ids = command.ids, .filter = message_filter(command.filter)};
}

std::vector<Failure> failures_to_show(const ChangeCommand& command, TaskCatalog& catalog) {
  std::vector<Failure> failures;
  const auto add = [&](const TaskRecord& task) {
    failures.push_back({.id = task.data.id.to_string(),
                        .type = task.type,
                        .where = task.queue.value_or(""),
                        .body = task.data.payload.value_or(""),
                        .error = error_of(task)});
  };
  for (const TaskId id : parse_ids(command.ids)) {
    const std::optional<TaskRecord> task = catalog.find(id);
    if (!task) throw TaskNotFoundException{id};
    add(*task);
  }
  if (command.ids.empty()) {
    for_each_found(catalog, command.filter.tasks(), [&](const TaskRecord& task) {
      if (command.filter.chooses(task)) add(task);
    });
  }
  return failures;
}

ExitCode ask_about_failed(const ChangeCommand& command, Engine& engine, Console& console) {
  const auto with = [&](const Change& change) {
    return [&engine, &change](const Failure& failure) {
      const TaskId id = TaskId::parse(failure.id).value();
      return change.apply(engine.queue(), {&id, 1}) == 1;
    };
  };
  print_result(go_through(failures_to_show(command, engine.catalog()),
                          {.retry = with(kRetry), .remove = with(kRemove)}, console),
               command.json, console);
  return ExitCode::done;
}

ExitCode retry_interactively(const ChangeCommand& command, Invocation& invocation) {
  require_dialogue(invocation.console);
  if (command.transport.is_given()) {
    return ask_about_failed_messages(command.transport, command.to, chosen_messages(command),
                                     command.json, invocation.console);
  }
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  return ask_about_failed(command, *engine, invocation.console);
}

ExitCode retry_failed(const ChangeCommand& command, Invocation& invocation) {
  if (!command.to.empty() && !command.transport.is_given()) {
    throw ConfigurationException{"--to is for messages: name their failure transport, --transport"};
  }
  if (command.interactive) return retry_interactively(command, invocation);
  require_choice(command);
  if (!command.transport.is_given()) require_task_ids(command.ids);
  if (command.transport.is_given()) {
    return retry_failed_messages(command.transport, command.to, chosen_messages(command),
                                 command.json, invocation.console);
  }
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  return change_failed(command, kRetry, *engine, invocation.console);
}

/// Removing many needs a person's word, or --yes.
bool confirmed(const ChangeCommand& command, Engine& engine, Console& console) {
  if (command.yes || !command.ids.empty()) return true;
  const std::int64_t total = count_failures(engine.catalog(), command.filter);
  if (total == 0) return true;
  if (!console.in_is_terminal || !console.err_screen.is_terminal) {
    throw ConfigurationException{fmt::format(
        "this would remove {} for good: add --yes to say that it may", format_tasks(total))};
  }
  fmt::print(console.err, "Remove {} for good? [y/N] ", format_tasks(total));
  std::string answer;
  std::getline(console.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

ExitCode remove_failed(const ChangeCommand& command, Invocation& invocation) {
  require_choice(command);
  if (!command.transport.is_given()) require_task_ids(command.ids);
  if (command.transport.is_given()) {
    if (command.ids.empty() && !command.yes) {
      throw ConfigurationException{
          "this would remove messages for good: add --yes to say that it "
          "may"};
    }
    return remove_failed_messages(command.transport, chosen_messages(command), command.json,
                                  invocation.console);
  }
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  if (!confirmed(command, *engine, invocation.console)) {
    fmt::print(invocation.console.err, "Nothing was removed\n");
    return ExitCode::failed;
  }
  return change_failed(command, kRemove, *engine, invocation.console);
}

std::shared_ptr<ChangeCommand> add_choice(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<ChangeCommand>();
  add_ids(command, options->ids, "The tasks, or the messages");
  add_failure_filter(command, options->filter);
  add_flag(command, "--all", options->all, "All failed tasks, or all messages");
  add_failure_transport(command, options->transport);
  add_json(command, options->json);
  add_dsn(command, invocation);
  return options;
}

}  // namespace

void add_failed_retry(CLI::App& parent, Invocation& invocation) {
  CLI::App& command = add_command(
      parent, "retry",
      "Run failed tasks again from the start (cancelled ones, too, by their id); with --transport, "
      "send failed messages again");
  const auto options = add_choice(command, invocation);
  add_text(command, "--to", options->to, "NAME|DSN",
           "Send messages there, and not back to where they failed")
      .not_empty();
  add_flag(command, "-i,--interactive", options->interactive,
           "Show one after the other, and ask what to do with it");
  add_examples(command, {
                            "errand failed retry --interactive",
                            "errand failed retry 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            "errand failed retry --type email.send",
                            "errand failed retry --class errand::WorkerLost",
                            "errand failed retry --all",
                            "errand failed retry --all --transport failed",
                            "errand failed retry 42 --transport failed \\",
                            "    --to 'postgresql://app@db/shop?queue_name=default'",
                        });
  runs(command, invocation, options, retry_failed);
}

void add_failed_remove(CLI::App& parent, Invocation& invocation) {
  CLI::App& command = add_command(
      parent, "remove",
      "Delete failed tasks for good (cancelled ones, too, by their id); with --transport, failed "
      "messages");
  const auto options = add_choice(command, invocation);
  add_flag(command, "-y,--yes", options->yes, "Do not ask before removing many");
  add_examples(command, {
                            "errand failed remove 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            "errand failed remove --type report.build --yes",
                            "errand failed remove 42 --transport failed",
                        });
  runs(command, invocation, options, remove_failed);
}

}  // namespace errand::cli
