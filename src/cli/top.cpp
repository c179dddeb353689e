#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "app/ended_counter.hpp"
#include "cli/colour.hpp"
#include "cli/commands.hpp"
#include "cli/failure_filter.hpp"
#include "cli/failure_view.hpp"
#include "cli/options.hpp"
#include "cli/stats_view.hpp"
#include "cli/task_json.hpp"
#include "terminal/display.hpp"
#include "terminal/full_screen.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Looking more often would cost the storage more than it tells a person.
constexpr milliseconds kShortestInterval{50};

struct TopCommand {
  milliseconds interval{1000};
  bool once = false;
  bool json = false;
};

/// What the storage said at one moment.
struct Sample {
  steady_clock::time_point taken;
  Timestamp time;
  TaskStats stats;
  std::vector<WorkerInfo> workers;
  std::vector<TaskRecord> failures;
  std::optional<StatusCounts> ended;  ///< since the sample before; nullopt in the first one
};

Sample take_sample(Engine& engine, detail::EndedCounter& counter) {
  constexpr std::int64_t kFailures = 5;
  TaskFilter failed;
  failed.statuses = {TaskStatus::failed};
  const Timestamp time = engine.now();
  const auto news = counter.look(time);
  return {
      .taken = steady_clock::now(),
      .time = time,
      .stats = engine.catalog().stats(),
      .workers = engine.workers().workers(),
      .failures =
          engine.catalog().list(failed, {.page = 1, .page_size = kFailures, .count = false}).items,
      .ended = news ? std::optional{news->tasks} : std::nullopt};
}

/// Per second since `before`.
double rate(const Sample& now, const Sample& before, TaskStatus status) {
  const double seconds = std::chrono::duration<double>(now.taken - before.taken).count();
  if (!now.ended || seconds <= 0) return 0;
  return static_cast<double>(now.ended->at(static_cast<std::size_t>(status))) / seconds;
}

void print_counts(std::ostream& out, const Sample& now, const std::optional<Sample>& before,
                  const terminal::Screen& screen) {
  std::vector<terminal::Column> columns{{.title = ""}};
  std::vector<terminal::Cell> counts{"tasks"};
  std::vector<terminal::Cell> rates{"per second"};
  for (const TaskStatus status : kAllTaskStatuses) {
    columns.push_back(
        {.title = std::string{to_string(status)}, .align = terminal::Column::Align::right});
    const std::int64_t count = now.stats.tasks.at(static_cast<std::size_t>(status));
    counts.emplace_back(terminal::format_count(count),
                        count > 0 ? colour_of(status) : terminal::Colour::dim);
    rates.emplace_back(before && is_final(status)
                           ? fmt::format("{:.1f}", rate(now, *before, status))
                           : std::string{});
  }
  terminal::Table table{std::move(columns)};
  table.add_row(std::move(counts));
  if (before) table.add_row(std::move(rates));
  table.print(out, screen);
}

void print_failures(std::ostream& out, const Sample& now, const terminal::Screen& screen) {
  if (now.failures.empty()) {
    fmt::print(out, "{}\n", paint("No failed tasks", terminal::Colour::dim, screen));
    return;
  }
  terminal::Table table{{{.title = "LATEST FAILURES"},
                         {.title = "TYPE", .may_shrink = true},
                         {.title = "AGE", .align = terminal::Column::Align::right},
                         {.title = "ERROR", .may_shrink = true}}};
  for (const TaskRecord& task : now.failures) {
    const ExceptionData error = error_of(task);
    table.add_row({task.data.id.to_string(),
                   task.type,
                   terminal::format_short_age(task.data.completed_at.value_or(now.time), now.time),
                   {summarize(error), terminal::Colour::red}});
  }
  table.print(out, screen);
}

std::string render(const Dsn& dsn, const Sample& now, const std::optional<Sample>& before,
                   const terminal::Screen& screen) {
  std::ostringstream out;
  fmt::print(out, "{} {} · {}\n\n", paint("errand top", terminal::Colour::bold, screen),
             terminal::printable(dsn.to_string()),
             to_iso8601(std::chrono::floor<std::chrono::seconds>(now.time)));
  print_counts(out, now, before, screen);
  out << '\n';
  print_queues(out, now.stats.queues, screen);
  out << '\n';
  print_workers(out, now.workers, now.time, screen);
  out << '\n';
  print_failures(out, now, screen);
  return out.str();
}

/// What `errand stats --json` has, and the latest failures.
std::string sample_json(const Sample& now) {
  using boost::json::serialize;
  return fmt::format(R"({{"tasks":{},"queues":{},"workers":{},"failures":{}}})",
                     serialize(to_json(now.stats.tasks)), serialize(to_json(now.stats.queues)),
                     serialize(to_json(now.workers)), json_array(now.failures));
}

/// Goes on through trouble with the storage: whoever watches wants to see it come back.
void watch(const TopCommand& command, const Dsn& dsn, Engine& engine, detail::EndedCounter& counter,
           Console& console) {
  Sample now = take_sample(engine, counter);
  std::optional<Sample> before;
  std::string trouble;
  terminal::FullScreen full_screen{console.out};
  while (true) {
    const terminal::Screen screen = terminal::Screen::of(STDOUT_FILENO);
    full_screen.draw(render(dsn, now, before, screen) + "\n" +
                     (trouble.empty()
                          ? paint("q quits", terminal::Colour::dim, screen)
                          : paint(terminal::printable(trouble), terminal::Colour::red, screen)));
    const terminal::FullScreen::Event event = full_screen.wait(command.interval);
    if (event == terminal::FullScreen::Event::quit) return;
    if (event == terminal::FullScreen::Event::resized) continue;
    try {
      Sample next = take_sample(engine, counter);
      before = std::exchange(now, std::move(next));
      trouble.clear();
    } catch (const StorageException& error) {
      trouble = error.what();
    }
  }
}

ExitCode top(const TopCommand& command, Invocation& invocation) {
  if (command.interval < kShortestInterval) {
    throw ConfigurationException{"--interval: at least " +
                                 terminal::format_span(kShortestInterval)};
  }
  const Dsn dsn = invocation.dsn();
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::existing);
  Console& console = invocation.console;
  detail::EndedCounter counter{*engine};
  if (command.json) {
    print_json(console, sample_json(take_sample(*engine, counter)));
  } else if (command.once || !console.out_screen.is_terminal) {
    console.out << render(dsn, take_sample(*engine, counter), std::nullopt, console.out_screen);
  } else {
    watch(command, dsn, *engine, counter, console);
  }
  return ExitCode::done;
}

}  // namespace

void add_top(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<TopCommand>();
  CLI::App& command =
      add_command(parent, "top", "Watch tasks, queues and workers; q quits", kOperatorCommands);
  add_duration(command, "--interval", options->interval, "Between two looks; 1s if left out");
  add_flag(command, "--once", options->once,
           "Print one picture and end, as it does where there is no terminal");
  add_flag(command, "--json", options->json, "Print one picture as JSON, for programs");
  add_dsn(command, invocation);
  add_examples(command, {"errand top", "errand top --interval 250ms", "errand top --once --json"});
  runs(command, invocation, options, top);
}

}  // namespace errand::cli
