#include <CLI/CLI.hpp>

#include "errand/application.hpp"
#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/processing/lost_task_sweep.hpp"
#include "invoice_intake/processing/process_task.hpp"
#include "terminal/console_logger.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct WorkerCommand {
  std::chrono::milliseconds retry_delay = kRetryDelay;
  std::chrono::milliseconds attachment_time = ExtractionLimits{}.attachment_time;
  std::vector<std::string> rest;
};

/// What `errand worker` understands and this one decides itself.
void refuse_queue(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--queue" || argument == "-q" || argument.starts_with("--queue=")) {
      throw ConfigurationException{"--queue: this worker reads the queue `" + std::string{kQueue} +
                                   "` and no other; leave the option out"};
    }
  }
}

ExitCode work(const WorkerCommand& command, Invocation& invocation) {
  refuse_queue(command.rest);
  // Before a task is taken: without it every one would fail.
  static_cast<void>(find_extractor(invocation.extractor_option));
  const std::unique_ptr<Database> database = invocation.database(Invocation::Missing::create);
  const Originals originals{invocation.originals()};
  ProcessingOptions options;
  options.retry_delay = std::chrono::ceil<std::chrono::seconds>(command.retry_delay);
  options.extraction.extractor = invocation.extractor_option;
  options.extraction.limits.attachment_time = command.attachment_time;
  Application app{invocation.dsn()};
  add_handlers(app, *database, originals, options);
  terminal::ConsoleLogger logger{Logger::Level::info};
  const LostTaskSweep sweep{*database, app.engine(), options.retry_delay, logger};
  std::vector<const char*> arguments{"errand-invoices worker", "--queue", kQueue};
  for (const std::string& argument : command.rest) arguments.push_back(argument.c_str());
  return static_cast<ExitCode>(
      run_worker(app, static_cast<int>(arguments.size()), arguments.data()));
}

}  // namespace

void add_worker(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<WorkerCommand>();
  CLI::App& command = terminal::add_command(
      parent, "worker", "Read the attachments of what was taken in, until stopped",
      kIntakeCommands);
  terminal::add_duration(command, "--retry-delay", options->retry_delay,
                         "How long a failed task waits for its next attempt (default: 5m)");
  terminal::add_duration(command, "--attachment-time", options->attachment_time,
                         "How long reading one attachment may take (default: 30s)");
  add_originals(command, invocation);
  add_extractor(command, invocation);
  add_dsn(command, invocation);
  command.allow_extras();
  command.footer(
      "All options of `errand worker` but --queue work here, too; these above all:\n"
      "  -c, --concurrency N   tasks to run at once (default: one per processor)\n"
      "  --drain               stop when no task is due\n"
      "  --lease TIME          how soon the loss of this worker is noticed (default: 15s)\n"
      "  --log-level LEVEL     debug, info, warning or error\n"
      "\n"
      "Examples:\n"
      "  errand-invoices worker --concurrency 4\n"
      "  errand-invoices worker --drain");
  runs(command, invocation.command, [&command, &invocation, options] {
    options->rest = command.remaining();
    return work(*options, invocation);
  });
}

}  // namespace errand::invoices
