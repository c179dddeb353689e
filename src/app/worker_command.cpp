#include "app/worker_command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "app/builtin_handlers.hpp"
#include "app/console_logger.hpp"
#include "app/exec_handler.hpp"
#include "app/stop_signals.hpp"
#include "cli/duration.hpp"

namespace errand::detail {

struct WorkerCommand {
  WorkerOptions options;
  std::size_t memory_limit_mib = 0;
  std::vector<std::string> exec;
  std::chrono::milliseconds exec_timeout{0};
  std::string log_level = "info";
};

namespace {

CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::milliseconds& target, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&target](const std::string& text) {
            try {
              target = cli::parse_duration(text);
            } catch (const ValidationException& error) {
              throw CLI::ValidationError{error.what()};
            }
          },
          description)
      ->type_name("DURATION");
}

/// `TYPE=COMMAND`.
void add_exec_handler(const WorkerCommand& command, const std::string& text, Handlers& handlers) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ConfigurationException{
        "--exec takes TYPE=COMMAND, as in --exec 'thumb.make=./thumb.sh', "
        "not `" +
        text + "`"};
  }
  handlers.add_raw(text.substr(0, equals),
                   exec_handler(text.substr(equals + 1), command.exec_timeout));
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
  auto worker = std::make_shared<WorkerCommand>();
  WorkerOptions& options = worker->options;
  command.add_option("-q,--queue", options.queues,
                     "Queues to serve, the most important first (default: default)");
  command.add_option("-c,--concurrency", options.concurrency,
                     "Tasks to run at once (default: one per processor)");
  add_duration(command, "--lease", options.lease,
               "How soon the loss of this worker is noticed (default: 15s)");
  add_duration(command, "--grace", options.grace,
               "How long running tasks may go on after a stop (default: 30s)");
  command.add_option("--limit", options.limit, "Stop after this many tasks");
  add_duration(command, "--time-limit", options.time_limit, "Stop after this time");
  command.add_option("--memory-limit", worker->memory_limit_mib,
                     "Stop when this many MiB are in use");
  command.add_option("--failure-limit", options.failure_limit,
                     "Stop after this many failed attempts");
  command.add_flag("--drain", options.drain, "Stop when no task is due");
  command
      .add_option("--exec", worker->exec,
                  "Run COMMAND for tasks of TYPE: payload on its standard input, JSON on its "
                  "standard output is the result, exit status other than 0 is a failure")
      ->type_name("TYPE=COMMAND");
  add_duration(command, "--exec-timeout", worker->exec_timeout,
               "Kill a command that takes longer (default: never)");
  command.add_option("--log-level", worker->log_level, "debug, info, warning or error")
      ->capture_default_str();
  return worker;
}

int run_worker_command(const WorkerCommand& command, Application& app) {
  ConsoleLogger logger{parse_log_level(command.log_level)};
  for (const std::string& text : command.exec) add_exec_handler(command, text, app.handlers());
  add_builtin_handlers(app.handlers());
  WorkerOptions options = command.options;
  options.memory_limit = command.memory_limit_mib << 20;

  signal(SIGPIPE, SIG_IGN);  // a command that does not read its input is no reason to die
  const StopSignals signals;
  Worker worker{app.engine(), app.handlers(), options, logger};
  std::string queues;
  for (const std::string& queue : options.queues) queues += (queues.empty() ? "" : ", ") + queue;
  logger.info(fmt::format("worker {} serves {}; stop it with Ctrl-C", worker.name(), queues));
  const WorkerReport report = worker.run(signals.token());
  log_report(logger, report);
  if (report.abandoned > 0) _exit(0);  // their tasks are handed back; nothing is left to wait for
  return 0;
}

}  // namespace errand::detail
