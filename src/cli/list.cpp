#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"
#include "errand/task_status.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/page_options.hpp"
#include "cli/task_json.hpp"
#include "cli/task_view.hpp"
#include "terminal/json_output.hpp"

namespace errand::cli {
namespace {

struct ListCommand {
  std::vector<std::string> statuses;
  PageOptions page;
  bool json = false;
};

ExitCode list(const ListCommand& command, Invocation& invocation) {
  std::vector<TaskStatus> statuses;
  for (const std::string& word : command.statuses) statuses.push_back(*parse_task_status(word));
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const TaskPage page = engine->catalog().list(
      command.page.filter(statuses),
      {.page = command.page.page, .page_size = command.page.page_size, .documents = command.json});
  Console& console = invocation.console;
  if (command.json) {
    print_json(console, json_page(page));
    return ExitCode::done;
  }
  if (!page.items.empty()) {
    print_tasks(console.out, page.items, system_clock().now(), console.out_screen);
  }
  print_page_position(page, console);
  return ExitCode::done;
}

std::vector<std::string> status_words() {
  std::vector<std::string> words;
  for (const TaskStatus status : kAllTaskStatuses) words.emplace_back(to_string(status));
  return words;
}

}  // namespace

void add_list(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ListCommand>();
  CLI::App& command = add_command(parent, "list", "List tasks, the newest first", kTaskCommands);
  add_texts(command, "--status", options->statuses, "STATUS",
            "Only these, separated by commas or each with its own --status")
      .comma_separated()
      .one_of(status_words());
  add_filter(command, options->page);
  add_page(command, options->page);
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand list",
                            "errand list --status pending,retrying --queue mail",
                            "errand list --status failed --page-size 1000 --json | jq .total",
                        });
  runs(command, invocation, options, list);
}

}  // namespace errand::cli
