#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errand/engine.hpp"

#include "cli/commands.hpp"
#include "cli/failed_messages.hpp"
#include "cli/failure_filter.hpp"
#include "cli/failure_view.hpp"
#include "cli/found_tasks.hpp"
#include "cli/options.hpp"
#include "cli/page_options.hpp"
#include "cli/task_json.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

struct FailedListCommand {
  FailureFilter filter;
  TransportChoice transport;
  bool stats = false;
  bool json = false;
};

/// Failures of one kind: same type, same class of error.
struct FailureGroup {
  std::string type;
  std::string error_class;
  std::int64_t count = 0;
  Timestamp last{};
};

Timestamp failed_at(const TaskRecord& task) {
  return task.data.completed_at.value_or(task.data.submitted_at);
}

/// The most frequent kind first.
std::vector<FailureGroup> group_failures(TaskCatalog& catalog, const FailureFilter& filter) {
  std::map<std::pair<std::string, std::string>, FailureGroup> groups;
  for_each_found(catalog, filter.tasks(), [&](const TaskRecord& task) {
    if (!filter.chooses(task)) return;
    const std::string error_class = error_of(task).class_name;
    FailureGroup& group = groups[{task.type, error_class}];
    group.type = task.type;
    group.error_class = error_class;
    ++group.count;
    group.last = std::max(group.last, failed_at(task));
  });
  std::vector<FailureGroup> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::greater{}, &FailureGroup::count);
  return sorted;
}

void print_groups(const std::vector<FailureGroup>& groups, bool json, Console& console) {
  if (json) {
    boost::json::array items;
    for (const FailureGroup& group : groups) {
      items.push_back(boost::json::object{{"type", group.type},
                                          {"class", group.error_class},
                                          {"count", group.count},
                                          {"lastFailedAt", to_iso8601(group.last)}});
    }
    print_json(console, boost::json::serialize(items));
    return;
  }
  if (groups.empty()) {
    console.out << "No failed tasks\n";
    return;
  }
  terminal::Table table{{{.title = "TASKS", .align = terminal::Column::Align::right},
                         {.title = "TYPE", .may_shrink = true},
                         {.title = "ERROR", .may_shrink = true},
                         {.title = "LAST", .align = terminal::Column::Align::right}}};
  const Timestamp now = system_clock().now();
  for (const FailureGroup& group : groups) {
    table.add_row({terminal::format_count(group.count), group.type, group.error_class,
                   terminal::format_short_age(group.last, now) + " ago"});
  }
  table.print(console.out, console.out_screen);
}

void print_failures(const TaskPage& page, Console& console) {
  terminal::Table table{{{.title = "ID"},
                         {.title = "TYPE", .may_shrink = true},
                         {.title = "QUEUE", .may_shrink = true, .may_drop = true},
                         {.title = "AGE", .align = terminal::Column::Align::right},
                         {.title = "ERROR", .may_shrink = true}}};
  const Timestamp now = system_clock().now();
  for (const TaskRecord& task : page.items) {
    const ExceptionData error = error_of(task);
    table.add_row({task.data.id.to_string(),
                   task.type,
                   task.queue.value_or(""),
                   terminal::format_short_age(failed_at(task), now),
                   {summarize(error), terminal::Colour::red}});
  }
  if (!table.empty()) table.print(console.out, console.out_screen);
  print_page_position(page, console);
}

ExitCode list_failed(const FailedListCommand& command, Invocation& invocation) {
  if (command.transport.is_given()) {
    return list_failed_messages(command.transport, message_filter(command.filter), command.stats,
                                command.json, invocation.console);
  }
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  Console& console = invocation.console;
  if (command.stats) {
    print_groups(group_failures(engine->catalog(), command.filter), command.json, console);
    return ExitCode::done;
  }
  const TaskPage page = list_failures(engine->catalog(), command.filter);
  if (command.json) {
    print_json(console, json_page(page));
  } else {
    print_failures(page, console);
  }
  return ExitCode::done;
}

}  // namespace

void add_failed_list(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<FailedListCommand>();
  CLI::App& command = add_command(
      parent, "list", "List failed tasks, the newest first; with --transport, failed messages");
  add_flag(command, "--stats", options->stats, "Count them by type and class of error instead");
  add_failure_filter(command, options->filter);
  add_page(command, options->filter.page);
  add_failure_transport(command, options->transport);
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {"errand failed list --type email.send", "errand failed list --stats",
                         "errand failed list --transport failed",
                         "errand failed list --transport 'sqlite:app.db?queue_name=failed'"});
  runs(command, invocation, options, list_failed);
}

}  // namespace errand::cli
