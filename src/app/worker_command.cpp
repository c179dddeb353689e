#include "app/worker_command.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "app/builtin_handlers.hpp"
#include "app/exec_handler.hpp"
#include "app/message_configuration.hpp"
#include "terminal/command_tree.hpp"
#include "terminal/console_logger.hpp"
#include "terminal/options.hpp"
#include "terminal/stop_signals.hpp"

namespace errand::detail {

struct WorkerCommand {
  WorkerOptions options;
  std::vector<std::string> queues;      ///< empty: the default one, unless there are transports
  std::vector<std::string> transports;  ///< names or DSNs
  std::string configuration;            ///< the file; empty: as the environment says
  std::int64_t concurrency = 0;
  std::int64_t memory_limit_mib = 0;
  std::vector<std::string> exec;
  std::chrono::milliseconds exec_timeout{0};
  std::string log_level = "info";
  std::function<bool()> transports_come_first;  ///< as they were typed
  std::string log_format = "text";
};

namespace {

/// `a,b` is two queues. Not left to CLI11, which would make the option that follows `,` a queue.
std::vector<std::string> split_at_commas(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      names.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return names;
}

void log_report(Logger& logger, const WorkerReport& report) {
  logger.info(
      fmt::format("{}: {} completed, {} failed, {} to be retried, {} cancelled, {} handed "
                  "back",
                  to_string(report.reason), report.completed, report.failed, report.retried,
                  report.cancelled, report.released));
}

}  // namespace

std::shared_ptr<WorkerCommand> add_worker_options(CLI::App& command) {
  constexpr std::int64_t kMany = 1'000'000'000'000;
  auto worker = std::make_shared<WorkerCommand>();
  WorkerOptions& options = worker->options;
  terminal::add_texts(
      command, "-q,--queue", worker->queues, "QUEUE",
      "Queues to serve, separated by commas or each with its own --queue, the most important "
      "first (default: default, or none with --transport)");
  terminal::add_texts(
      command, "--transport", worker->transports, "NAME|DSN",
      "Messages to handle, by the name of a transport in the configuration or by "
      "DSN; may be repeated, the most important first; before --queue, they come first "
      "as a whole");
  worker->transports_come_first = [&command] {
    return terminal::typed_before(command, "--transport", "--queue");
  };
  terminal::add_text(command, "--config", worker->configuration, terminal::kFileName,
                     "Names of transports; without it $ERRAND_CONFIG, else errand.json if there "
                     "is one");
  terminal::add_number(command, "-c,--concurrency", worker->concurrency, 0, 1024,
                       "Tasks to run at once (default: one per processor)");
  terminal::add_duration(command, "--lease", options.lease,
                         "How soon the loss of this worker is noticed (default: 15s)");
  terminal::add_duration(command, "--grace", options.grace,
                         "How long running tasks may go on after a stop (default: 30s)");
  terminal::add_number(command, "--limit", options.limit, 0, kMany, "Stop after this many tasks");
  terminal::add_duration(command, "--time-limit", options.time_limit, "Stop after this time");
  terminal::add_number(command, "--memory-limit", worker->memory_limit_mib, 0, kMany >> 20,
                       "Stop when this many MiB are in use");
  terminal::add_number(command, "--failure-limit", options.failure_limit, 0, kMany,
                       "Stop after this many failed attempts");
  terminal::add_flag(command, "--drain", options.drain,
                     "Stop when no task is due; what others hold is not waited for");
  terminal::add_texts(command, "--exec", worker->exec, "TYPE=COMMAND",
                      "Run COMMAND for tasks and messages of TYPE: payload on its standard "
                      "input, JSON on its standard output is the result of a task, exit status "
                      "other than 0 is a failure");
  terminal::add_duration(command, "--exec-timeout", worker->exec_timeout,
                         "Kill a command that takes longer (default: never)");
  terminal::add_text(command, "--log-level", worker->log_level, "LEVEL",
                     "How much to tell (default: info)")
      .one_of({"debug", "info", "warning", "error"});
  terminal::add_text(command, "--log-format", worker->log_format, "FORMAT",
                     "text, or json: an object a line (default: text)")
      .one_of({"text", "json"});
  const std::string name = terminal::full_name(command);
  terminal::add_examples(command, {
                                      name + " --queue mail,default --concurrency 8",
                                      name + " --exec report.build='python3 build_report.py'",
                                      name + " --drain --time-limit 5m",
                                      name + " --transport async --exec "
                                             "'App\\Message\\Sms=./send_sms.sh'",
                                      name + " --transport 'sqlite:app.db?queue_name=async'",
                                  });
  return worker;
}

bool serves_tasks(const WorkerCommand& command) {
  return !command.queues.empty() || command.transports.empty();
}

namespace {

/// What the worker says first: what it serves.
void log_start(Logger& logger, const std::string& worker, const std::vector<std::string>& served) {
  std::string names;
  for (const std::string& name : served) names += (names.empty() ? "" : ", ") + name;
  logger.info(fmt::format("worker {} serves {}; stop it with Ctrl-C", worker, names));
}

WorkerReport run_tasks(const WorkerOptions& options, const Handlers& handlers, Engine& engine,
                       const std::stop_token& stop, Logger& logger) {
  Worker worker{engine, handlers, options, logger};
  log_start(logger, worker.name(), options.queues);
  return worker.run(stop);
}

WorkerReport run_messages(const WorkerCommand& command, const WorkerOptions& options,
                          const MessageConfiguration& configuration, const Handlers& handlers,
                          Engine* engine, const std::stop_token& stop, Logger& logger) {
  TransportOptions transport_options;
  transport_options.logger = &logger;
  OpenTransports transports{configuration, transport_options};
  std::vector<ConsumedTransport> consumed;
  std::vector<std::string> served;
  if (engine != nullptr) served = options.queues;
  for (const std::string& name : command.transports) {
    consumed.push_back(transports.consumed(name));
    served.push_back("transport " + consumed.back().transport->name());
  }
  MessageConsumerOptions consumer_options;
  consumer_options.worker = options;
  consumer_options.class_names = transports.configuration().class_names;
  consumer_options.tasks = engine;
  consumer_options.messages_first = command.transports_come_first();
  MessageConsumer consumer{std::move(consumed), handlers, consumer_options, logger};
  log_start(logger, consumer.name(), served);
  return consumer.run(stop);
}

}  // namespace

std::unique_ptr<Logger> make_logger(const WorkerCommand& command) {
  return std::make_unique<terminal::ConsoleLogger>(terminal::parse_log_level(command.log_level),
                                                   terminal::parse_log_format(command.log_format));
}

int run_worker_command(const WorkerCommand& command, Handlers& handlers, Engine* engine) {
  if (engine == nullptr && serves_tasks(command)) {
    throw ConfigurationException{
        "this program serves messages and has no storage of tasks: name a transport with "
        "--transport, and no --queue"};
  }
  const std::unique_ptr<Logger> own_logger = make_logger(command);
  Logger& logger = *own_logger;
  // Who serves tasks alone has no use for it, and no mistake in it stops him, unless he named it.
  MessageConfiguration configuration;
  if (!command.transports.empty() || !command.configuration.empty()) {
    configuration = MessageConfiguration::from_environment(command.configuration);
  }
  add_exec_handlers(handlers, command.exec, command.exec_timeout, configuration.serializer());
  add_builtin_handlers(handlers);
  WorkerOptions options = command.options;
  if (!command.queues.empty()) options.queues = split_at_commas(command.queues);
  options.concurrency = static_cast<int>(command.concurrency);
  options.memory_limit = static_cast<std::size_t>(command.memory_limit_mib) << 20;

  signal(SIGPIPE, SIG_IGN);  // a command that does not read its input is no reason to die
  const terminal::StopSignals signals;
  const WorkerReport report =
      command.transports.empty()
          ? run_tasks(options, handlers, *engine, signals.token(), logger)
          : run_messages(command, options, configuration, handlers,
                         serves_tasks(command) ? engine : nullptr, signals.token(), logger);
  log_report(logger, report);
  if (report.abandoned > 0) _exit(0);  // their tasks are handed back; nothing is left to wait for
  return 0;
}

}  // namespace errand::detail
