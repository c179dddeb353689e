#include <algorithm>
#include <fmt/ostream.h>

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/commands/stop_signals.hpp"
#include "distributor_upgrade/upgrade/load_simulation.hpp"

namespace errand::distributors {

ExitCode run_simulate(const SimulateOptions& options, Invocation& invocation) {
  const StopSignals signals;
  const auto database = invocation.database();
  const auto checks = invocation.checks();
  const auto failures = invocation.failures();
  const LoadOptions load{.rate = options.rate,
                         .duration = options.duration,
                         .handling = options.handling,
                         .concurrency = static_cast<int>(options.concurrency),
                         .message_class = invocation.message_class()};
  const LoadReport report = simulate_load(
      *database, *checks, *failures, load, signals.token(), silent_logger(),
      [&](const LoadReport& so_far, std::int64_t waiting) {
        if (!invocation.err_screen.is_terminal) return;
        fmt::print(invocation.err, "\r{} sent · {} handled · {} waiting\x1b[K",
                   format_count(so_far.sent), format_count(so_far.handled), format_count(waiting));
        invocation.err.flush();
      });
  if (invocation.err_screen.is_terminal) fmt::print(invocation.err, "\r\x1b[K");
  if (invocation.json) {
    invocation.print_json(json_of(JsonMembers{{"sent", report.sent},
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
    fmt::print(invocation.out,
               "{} withdrawals completed in {:.1f} s, {:.1f}/s\n"
               "{} checks handled, {} failed, {} upgrades\n"
               "waiting: {:.1f} on average, {} at most; {:.1f} s to the end after the last one\n",
               format_count(report.sent), report.seconds,
               static_cast<double>(report.sent) / std::max(report.seconds, 0.001),
               format_count(report.handled), format_count(report.failed),
               format_count(report.upgraded), report.mean_waiting,
               format_count(report.most_waiting), report.drain_seconds);
    if (report.handled > 0) {
      fmt::print(invocation.out,
                 "from withdrawal to check: {} ms in the middle, {} ms for 95 %, {} ms at most\n",
                 report.median_delay.count(), report.delay_of_95_percent.count(),
                 report.longest_delay.count());
    }
  }
  if (report.failed == 0) return ExitCode::done;
  // One line for all of them, which mostly fail for the same reason.
  fmt::print(invocation.err, "errand-distributors: {} checks failed; the first: {}\n",
             format_count(report.failed), printable(report.first_failure));
  return ExitCode::failed;
}

}  // namespace errand::distributors
