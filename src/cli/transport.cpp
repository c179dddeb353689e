#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/transport_options.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

/// `errand transport stats`, `setup` and `purge`.
namespace errand::cli {
namespace {

struct TransportCommand {
  std::vector<std::string> names;
  std::string configuration;
  bool yes = false;
  bool json = false;

  [[nodiscard]] detail::OpenTransports open(TransportOptions::Open how) const {
    return TransportChoice{.name = "", .configuration = configuration}.open(how);
  }
};

/// Those that were named, else all that the configuration names.
std::vector<std::string> chosen(const TransportCommand& command,
                                const detail::OpenTransports& transports) {
  if (!command.names.empty()) return command.names;
  std::vector<std::string> names;
  for (const auto& [name, settings] : transports.configuration().transports) names.push_back(name);
  if (names.empty()) {
    throw ConfigurationException{
        "which transport? Give a DSN, as sqlite:app.db?queue_name=async, or a configuration that "
        "names some"};
  }
  return names;
}

boost::json::object to_json(const std::string& name, const TransportStats& stats) {
  boost::json::object item{{"transport", name},
                           {"ready", stats.ready},
                           {"delayed", stats.delayed},
                           {"inFlight", stats.in_flight},
                           {"oldestReadyMs", nullptr}};
  if (stats.oldest_ready) item["oldestReadyMs"] = stats.oldest_ready->count();
  return item;
}

/// The queue `failed` that nobody has named, where there is one by now.
void add_implied_failures(detail::OpenTransports& transports, boost::json::array& items,
                          terminal::Table& table) {
  for (const std::string& name : transports.failure_names()) {
    if (transports.knows(name)) continue;
    try {
      const TransportStats stats = transports.get(name).stats();
      items.push_back(to_json(name, stats));
      table.add_row({name, terminal::format_count(stats.ready),
                     terminal::format_count(stats.delayed), terminal::format_count(stats.in_flight),
                     stats.oldest_ready ? terminal::format_span(*stats.oldest_ready) : ""});
    } catch (const StorageException&) {
      // It comes into being with the first failure; other trouble the transport beside it has, too.
    } catch (const ConfigurationException&) {
      // There are several, one in each storage.
    }
  }
}

ExitCode show_stats(const TransportCommand& command, Invocation& invocation) {
  using enum terminal::Column::Align;
  detail::OpenTransports transports = command.open(TransportOptions::Open::existing);
  boost::json::array items;
  terminal::Table table{{{.title = "TRANSPORT", .may_shrink = true},
                         {.title = "READY", .align = right},
                         {.title = "DELAYED", .align = right},
                         {.title = "IN FLIGHT", .align = right},
                         {.title = "OLDEST READY", .align = right}}};
  ExitCode code = ExitCode::done;
  std::vector<std::pair<std::string, std::string>> troubles;
  for (const std::string& name : chosen(command, transports)) {
    try {
      Transport& transport = transports.get(name);
      const TransportStats stats = transport.stats();
      items.push_back(to_json(transport.name(), stats));
      table.add_row({transport.name(), terminal::format_count(stats.ready),
                     terminal::format_count(stats.delayed), terminal::format_count(stats.in_flight),
                     stats.oldest_ready ? terminal::format_span(*stats.oldest_ready) : ""});
    } catch (const StorageException& error) {
      // The others are shown all the same.
      code = ExitCode::storage_unreachable;
      const std::string shown = transports.name_for_people(name);
      items.push_back(boost::json::object{{"transport", shown}, {"error", error.what()}});
      table.add_row({shown, {"?", terminal::Colour::red}, "?", "?", ""});
      troubles.emplace_back(shown, error.what());
    }
  }
  Console& console = invocation.console;
  if (command.names.empty()) add_implied_failures(transports, items, table);
  if (command.json) {
    print_json(console, boost::json::serialize(items));
  } else {
    table.print(console.out, console.out_screen);
  }
  for (const auto& [name, trouble] : troubles) {
    fmt::print(console.err, "errand: transport {}: {}\n", terminal::printable(name),
               terminal::printable(trouble));
  }
  return code;
}

ExitCode set_up(const TransportCommand& command, Invocation& invocation) {
  detail::OpenTransports transports = command.open(TransportOptions::Open::setup);
  for (const std::string& name : chosen(command, transports)) {
    Transport& transport = transports.get(name);
    transport.setup();
    fmt::print(invocation.console.out, "Transport {} is ready\n",
               terminal::printable(transport.name()));
  }
  return ExitCode::done;
}

ExitCode purge(const TransportCommand& command, Invocation& invocation) {
  if (command.names.empty())
    throw ConfigurationException{"which transport? Name it, or give a DSN"};
  if (!command.yes) {
    throw ConfigurationException{
        "this would remove all messages for good: add --yes to say that it may"};
  }
  detail::OpenTransports transports = command.open(TransportOptions::Open::existing);
  for (const std::string& name : command.names) {
    Transport& transport = transports.get(name);
    const std::size_t removed = transport.purge();
    fmt::print(invocation.console.out, "Removed {} {} from {}\n",
               terminal::format_count(static_cast<std::int64_t>(removed)),
               removed == 1 ? "message" : "messages", terminal::printable(transport.name()));
  }
  return ExitCode::done;
}

std::shared_ptr<TransportCommand> add_names(CLI::App& command, const std::string& description) {
  auto options = std::make_shared<TransportCommand>();
  add_argument(command, "NAME|DSN", options->names, description);
  add_configuration(command, options->configuration);
  return options;
}

constexpr const char* kAllIfLeftOut = "The transports; all of the configuration if left out";

}  // namespace

void add_transport(CLI::App& parent, Invocation& invocation) {
  CLI::App& group =
      add_command(parent, "transport", "Look at, create and empty transports", kWorkerCommands);
  require_command(group);

  CLI::App& stats = add_command(group, "stats", "Count the messages of transports");
  const auto stats_options = add_names(stats, kAllIfLeftOut);
  add_json(stats, stats_options->json);
  add_examples(stats, {"errand transport stats async failed",
                       "errand transport stats 'sqlite:app.db?queue_name=async' --json"});
  runs(stats, invocation, stats_options, show_stats);

  CLI::App& setup = add_command(
      group, "setup", "Create what is missing of table, index and trigger, or of stream and group");
  const auto setup_options = add_names(setup, kAllIfLeftOut);
  add_examples(setup, {"errand transport setup", "errand transport setup async"});
  runs(setup, invocation, setup_options, set_up);

  CLI::App& purge_command = add_command(
      group, "purge", "Remove all messages of transports for good, also those being handled");
  const auto purge_options =
      add_names(purge_command, "The transports to empty; at least one has to be named");
  add_flag(purge_command, "-y,--yes", purge_options->yes, "Yes, remove them; needed");
  add_examples(purge_command, {"errand transport purge failed --yes"});
  runs(purge_command, invocation, purge_options, purge);

  add_examples(group, {"errand transport stats", "errand transport setup async"});
}

}  // namespace errand::cli
