#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "errand/errors.hpp"

#include "bench/engine_bench.hpp"
#include "bench/transport_bench.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/transport_options.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::cli {
namespace {

/// A signal came: nothing more is to be measured.
struct Interrupted {};

struct BenchCommand {
  std::int64_t tasks = 20'000;
  std::int64_t backlog = 0;
  std::int64_t rounds = 3;
  std::int64_t payload = 200;
  bool bare_first = false;
  bool queue_only = false;
  bool keep_backlog = false;
  bool json = false;
  TransportChoice transport;
};

/// With fewer a round of bulk or drain is over before the storage has got going.
constexpr std::int64_t kTooFewTasks = 5'000;

bool is_duration(const std::string& name) { return name.ends_with("_ms"); }

void print_table(const std::vector<bench::Figure>& figures, Console& console) {
  const std::map<std::string, double> by_name{figures.begin(), figures.end()};
  using Align = terminal::Column::Align;
  terminal::Table table{{{"FIGURE"},
                         {"VALUE", Align::right},
                         {"UNIT"},
                         {"BARE LOOP", Align::right},
                         {"RATIO", Align::right}}};
  for (const auto& [name, value] : figures) {
    if (name.starts_with("limit_")) continue;
    if (is_duration(name)) {
      table.add_row({name, fmt::format("{:.2f}", value), "ms", "", ""});
      continue;
    }
    const auto limit = by_name.find("limit_" + name);
    const bool known = limit != by_name.end();
    table.add_row({name, terminal::format_count(std::llround(value)), "tasks/s",
                   known ? terminal::format_count(std::llround(limit->second)) : "",
                   known ? fmt::format("{:.2f}", value / limit->second) : ""});
  }
  table.print(console.out, console.out_screen);
}

ExitCode run_bench(const BenchCommand& command, Invocation& invocation) {
  if (command.keep_backlog && command.backlog == 0) {
    throw ConfigurationException{"--keep-backlog is for --backlog: say how many tasks"};
  }
  Console& console = invocation.console;
  const terminal::StopSignals signals;
  bool interrupted = false;
  std::vector<bench::Figure> figures;
  std::string measured;
  try {
    terminal::LiveLine line{console.err, console.err_screen};
    const bench::Plan plan{.tasks = static_cast<std::size_t>(command.tasks),
                           .backlog = static_cast<std::size_t>(command.backlog),
                           .rounds = static_cast<std::size_t>(command.rounds),
                           .payload = static_cast<std::size_t>(command.payload),
                           .bare_first = command.bare_first,
                           .storage_calls = !command.queue_only,
                           .keep_backlog = command.keep_backlog};
    const auto progress = [&](const std::string& next) {
      if (signals.token().stop_requested() && !std::exchange(interrupted, true)) {
        line.show("removing what was made");
        throw Interrupted{};
      }
      if (!interrupted) line.show("measuring " + next);
    };
    if (command.transport.is_given()) {
      detail::OpenTransports transports = command.transport.open(TransportOptions::Open::create);
      Transport& transport = transports.get(command.transport.name);
      measured = transport.name();
      figures = bench::measure(transport, plan, progress);
    } else {
      const Dsn dsn = invocation.dsn();
      measured = dsn.to_string();
      figures = bench::measure(dsn, plan, progress);
    }
  } catch (const Interrupted&) {
    fmt::print(console.err, "errand: interrupted; {}\n",
               command.transport.is_given()
                   ? "`errand transport purge` removes the messages that are left"
                   : "what was made is removed");
    return ExitCode::cancelled;
  }
  if (command.json) {
    // By hand: Boost.JSON writes 250 as 2.5E2, which is right and hard to read.
    std::string json =
        fmt::format(R"({{"{}":{},"tasks":{})", command.transport.is_given() ? "transport" : "dsn",
                    boost::json::serialize(boost::json::value(measured)), command.tasks);
    for (const auto& [name, value] : figures) {
      json += fmt::format(R"(,"{}":{:.{}f})", name, value, is_duration(name) ? 3 : 0);
    }
    print_json(console, json + "}");
  } else {
    print_table(figures, console);
  }
  if (command.tasks < kTooFewTasks) {
    console.out.flush();
    fmt::print(console.err,
               "errand: figures of {} tasks are mostly noise; measure with --tasks {} or more\n",
               terminal::format_count(command.tasks), kTooFewTasks);
  }
  return ExitCode::done;
}

}  // namespace

void add_bench(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<BenchCommand>();
  CLI::App& command =
      add_command(parent, "bench", "Measure this storage, beside what its client library allows",
                  kStorageCommands);
  add_number(command, "--tasks", options->tasks, 100, 10'000'000,
             "Tasks of each bulk and drain round (20000)");
  add_number(command, "--rounds", options->rounds, 1, 1000,
             "Rounds of bulk and drain, of which the median counts (3)");
  add_number(command, "--payload", options->payload,
             static_cast<std::int64_t>(bench::kLeastPayload), 64'000'000,
             "Bytes of JSON of each task (200)");
  add_flag(command, "--bare-first", options->bare_first,
           "Begin with the bare loop's bulk and drain; they take turns at being first");
  add_flag(command, "--queue-only", options->queue_only,
           "Leave out what TaskStorage does: save, load, update, delete");
  add_number(command, "--backlog", options->backlog, 0, 100'000'000,
             "Also measure a claim beside so many pending tasks; submits and removes them");
  add_flag(command, "--keep-backlog", options->keep_backlog,
           "Do not remove them, which takes its time: for a storage to be thrown away");
  add_transport_choice(command, options->transport,
                       "Measure messages without a record on this transport instead, which must "
                       "be empty");
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command,
               {
                   "errand bench --dsn sqlite:/tmp/bench.db",
                   "errand bench --dsn sqlite:/tmp/bench.db --tasks 100000 --json",
                   "errand bench --dsn postgresql://queue.example/errand --backlog 3000000",
                   "errand bench --transport 'sqlite:/tmp/bench.db?queue_name=bench'",
               });
  runs(command, invocation, options, run_bench);
}

}  // namespace errand::cli
