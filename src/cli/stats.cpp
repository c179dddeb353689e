#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"

#include "cli/colour.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/stats_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

struct StatsCommand {
  bool json = false;
};

void print_counts(std::ostream& out, const StatusCounts& counts, const terminal::Screen& screen) {
  terminal::Table table{
      {{.title = "STATUS"}, {.title = "TASKS", .align = terminal::Column::Align::right}}};
  for (const TaskStatus status : kAllTaskStatuses) {
    table.add_row({{std::string{to_string(status)}, colour_of(status)},
                   terminal::format_count(counts.at(static_cast<std::size_t>(status)))});
  }
  table.print(out, screen);
}

ExitCode stats(const StatsCommand& command, Invocation& invocation) {
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  const TaskStats stats = engine->catalog().stats();
  const std::vector<WorkerInfo> workers = engine->workers().workers();
  Console& console = invocation.console;
  if (command.json) {
    print_json(console,
               boost::json::serialize(boost::json::object{{"tasks", to_json(stats.tasks)},
                                                          {"queues", to_json(stats.queues)},
                                                          {"workers", to_json(workers)}}));
    return ExitCode::done;
  }
  print_counts(console.out, stats.tasks, console.out_screen);
  console.out << '\n';
  print_queues(console.out, stats.queues, console.out_screen);
  console.out << '\n';
  print_workers(console.out, workers, system_clock().now(), console.out_screen);
  return ExitCode::done;
}

}  // namespace

void add_stats(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<StatsCommand>();
  CLI::App& command =
      add_command(parent, "stats", "Count tasks; show queues and workers", kOperatorCommands);
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand stats",
                            "errand stats --json | jq .tasks.pending",
                        });
  runs(command, invocation, options, stats);
}

}  // namespace errand::cli
