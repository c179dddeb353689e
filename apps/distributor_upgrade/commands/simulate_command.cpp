#include <algorithm>
#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/upgrade/load_simulation.hpp"
#include "terminal/complaint.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/wording.hpp"

namespace errand::distributors {

ExitCode run_simulate(const SimulateOptions& options, Invocation& invocation) {
  const terminal::StopSignals signals;
  const auto database = invocation.database();
  const auto checks = invocation.checks();
  const auto failures = invocation.failures();
  const LoadOptions load{.rate = options.rate,
                         .duration = options.duration,
                         .handling = options.handling,
                         .concurrency = static_cast<int>(options.concurrency),
                         .message_class = invocation.message_class()};
  terminal::LiveLine line{invocation.console.err, invocation.console.err_screen};
  const LoadReport report =
      simulate_load(*database, *checks, *failures, load, signals.token(), silent_logger(),
                    [&](const LoadReport& so_far, std::int64_t waiting) {
                      line.show(fmt::format(
                          "{} sent · {} handled · {} waiting", terminal::format_count(so_far.sent),
                          terminal::format_count(so_far.handled), terminal::format_count(waiting)));
                    });
  line.clear();
  if (invocation.json) {
    terminal::print_json(invocation.console,
                         json_of(JsonMembers{{"sent", report.sent},
                                             {"handled", report.handled},
                                             {"failed", report.failed},
                                             {"upgraded", report.upgraded},
                                             {"seconds", report.seconds},
                                             {"drainSeconds", report.drain_seconds},
                                             {"mostWaiting", report.most_waiting},
                                             {"meanWaiting", report.mean_waiting},
                                             {"medianDelayMs", report.median_delay.count()},
                                             {"p95DelayMs", report.delay_of_95_percent.count()},
                                             {"longestDelayMs", report.longest_delay.count()}}));
  } else {
    fmt::print(invocation.console.out,
               "{} withdrawals completed in {:.1f} s, {:.1f}/s\n"
               "{} checks handled, {} failed, {} upgrades\n"
               "waiting: {:.1f} on average, {} at most; {:.1f} s to the end after the last one\n",
               terminal::format_count(report.sent), report.seconds,
               static_cast<double>(report.sent) / std::max(report.seconds, 0.001),
               terminal::format_count(report.handled), terminal::format_count(report.failed),
               terminal::format_count(report.upgraded), report.mean_waiting,
               terminal::format_count(report.most_waiting), report.drain_seconds);
    if (report.handled > 0) {
      fmt::print(invocation.console.out,
                 "from withdrawal to check: {} ms in the middle, {} ms for 95 %, {} ms at most\n",
                 report.median_delay.count(), report.delay_of_95_percent.count(),
                 report.longest_delay.count());
    }
  }
  if (report.failed == 0) return ExitCode::done;
  // One line for all of them, which mostly fail for the same reason.
  terminal::complain(invocation.console, kProgram,
                     fmt::format("{} checks failed; the first: {}",
                                 terminal::format_count(report.failed), report.first_failure));
  return ExitCode::failed;
}

}  // namespace errand::distributors
