#include <fmt/ostream.h>

#include "errand/message_consumer.hpp"

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/upgrade/check_handler.hpp"
#include "terminal/console_logger.hpp"
#include "terminal/json_output.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/wording.hpp"

namespace errand::distributors {

ExitCode run_worker(const WorkerCommandOptions& options, Invocation& invocation) {
  const terminal::StopSignals signals;
  terminal::ConsoleLogger logger{options.quiet ? Logger::Level::warning : Logger::Level::info};
  const auto database = invocation.database();
  const auto checks = invocation.checks(logger);
  const auto failures = invocation.failures(logger);
  DistributorUpgradeService service{*database};
  const DistributorUpgradeCheckHandler handler{service};
  Handlers handlers;
  handler.add_to(handlers);

  MessageConsumerOptions consumer_options;
  consumer_options.worker.concurrency = static_cast<int>(options.concurrency);
  consumer_options.worker.limit = options.limit;
  consumer_options.worker.drain = options.drain;
  consumer_options.class_names = {{kCheckType, invocation.message_class()}};
  // RetryPolicy's default is what is wanted: after 1 s, 5 s and 25 s, then failed_messages.
  MessageConsumer consumer{
      {{.transport = checks.get(), .failure = failures.get()}}, handlers, consumer_options, logger};
  logger.info(fmt::format("{} handles the checks of {}", consumer.name(), checks->name()));
  const WorkerReport report = consumer.run(signals.token());
  if (invocation.json) {
    terminal::print_json(invocation.console,
                         json_of(JsonMembers{{"reason", std::string{to_string(report.reason)}},
                                             {"handled", report.completed},
                                             {"failed", report.failed},
                                             {"retried", report.retried}}));
  } else {
    fmt::print(invocation.console.err, "{}: {} handled, {} failed, {} to be tried again\n",
               to_string(report.reason), terminal::format_count(report.completed),
               terminal::format_count(report.failed), terminal::format_count(report.retried));
  }
  return ExitCode::done;
}

}  // namespace errand::distributors
