#include <algorithm>
#include <chrono>
#include <fmt/ostream.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/upgrade/bulk_check.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"
#include "terminal/complaint.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/live_line.hpp"
#include "terminal/paint.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/stop_signals.hpp"
#include "terminal/wording.hpp"

namespace errand::distributors {
namespace {

std::string text_of(const Finding& finding) {
  switch (finding.kind) {
    case Finding::Kind::all_of:
      return "all of:";
    case Finding::Kind::any_of:
      return "one of:";
    case Finding::Kind::opposite:
      return "not:";
    default:
      return finding.text;
  }
}

void print_finding(const Finding& finding, std::size_t width, Invocation& invocation) {
  const terminal::Screen& screen = invocation.console.out_screen;
  const std::string indent(static_cast<std::size_t>(finding.depth) * 2, ' ');
  const std::string mark = finding.holds ? terminal::paint("✓", terminal::Colour::green, screen)
                                         : terminal::paint("✗", terminal::Colour::red, screen);
  if (finding.kind != Finding::Kind::comparison) {
    fmt::print(invocation.console.out, "  {}{} {}\n", indent, mark, text_of(finding));
    return;
  }
  fmt::print(invocation.console.out, "  {}{} {:<{}}  {} {} {}{}\n", indent, mark, finding.text,
             width - indent.size(), finding.left, finding.comparison, finding.right,
             finding.missing.empty() ? "" : fmt::format(", {} missing", finding.missing));
}

/// `blocked_by`: a level below that is not reached and may not be skipped, or empty.
void print_step(const Assessment::Step& step, const std::string& blocked_by,
                Invocation& invocation) {
  const terminal::Screen& screen = invocation.console.out_screen;
  if (!step.verdict) {
    fmt::print(invocation.console.out, "\n{}: {}\n  {}\n", terminal::printable(step.level.name),
               terminal::paint("cannot be worked out", terminal::Colour::red, screen),
               terminal::printable(step.problem));
    return;
  }
  std::string outcome = terminal::paint("not reached", terminal::Colour::yellow, screen);
  if (step.verdict->holds) {
    outcome = blocked_by.empty() ? terminal::paint("reached", terminal::Colour::green, screen)
                                 : terminal::paint("would be reached, but " +
                                                       terminal::printable(blocked_by) + " is not",
                                                   terminal::Colour::yellow, screen);
  }
  fmt::print(invocation.console.out, "\n{}: {}\n", terminal::printable(step.level.name), outcome);
  std::size_t width = 0;
  for (const Finding& finding : step.verdict->findings) {
    width = std::max(width, static_cast<std::size_t>(finding.depth) * 2 + text_of(finding).size());
  }
  for (const Finding& finding : step.verdict->findings) print_finding(finding, width, invocation);
}

void print_steps(const Assessment& assessment, Invocation& invocation) {
  std::string blocked_by;
  for (const Assessment::Step& step : assessment.steps) {
    print_step(step, blocked_by, invocation);
    const bool holds = step.verdict && step.verdict->holds;
    if (!holds && blocked_by.empty() && !assessment.may_skip) blocked_by = step.level.name;
  }
  if (assessment.may_skip && assessment.steps.size() > 1) {
    fmt::print(invocation.console.out,
               "\nLevels may be skipped: the highest one reached counts.\n");
  }
}

std::string reason_to_stay(const Assessment& assessment) {
  if (assessment.steps.empty()) return "there is no level above";
  if (!assessment.problem.empty()) return "the criteria fail";
  return "the next level is not reached";
}

void print_outcome(const Assessment& assessment, Invocation& invocation) {
  const std::string who =
      fmt::format("{} (distributor {})", terminal::printable(assessment.context.name),
                  assessment.context.distributor_id);
  const std::string level = terminal::printable(assessment.level.name);
  if (!assessment.reached) {
    fmt::print(invocation.console.out, "{} stays {}: {}\n", who, level, reason_to_stay(assessment));
    return;
  }
  const std::string reached = terminal::printable(assessment.reached->name);
  if (assessment.upgrade) {
    fmt::print(invocation.console.out, "{} rose from {} to {}\n", who, level, reached);
  } else {
    fmt::print(invocation.console.out, "{} is {} and would rise to {}\n", who, level, reached);
  }
}

std::string progress_of(const BulkReport& report, double rate) {
  return terminal::format_progress(
      {.done = report.checked,
       .total = report.total,
       .note = fmt::format("{} upgraded · {}/s", terminal::format_count(report.upgraded),
                           terminal::format_count(static_cast<std::int64_t>(rate)))});
}

}  // namespace

ExitCode run_check(const CheckOptions& options, Invocation& invocation) {
  if (options.all == options.id.has_value()) {
    throw ConfigurationException{"which distributor? Give an id, or --all"};
  }
  if (options.all) return run_check_all(options, invocation);
  const auto database = invocation.database();
  DistributorUpgradeService service{*database};
  const Assessment assessment =
      options.dry_run ? service.assess(*options.id) : service.check_and_explain(*options.id);
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(assessment));
  } else {
    print_outcome(assessment, invocation);
    print_steps(assessment, invocation);
  }
  if (assessment.problem.empty()) return ExitCode::done;
  terminal::complain(invocation.console, kProgram, assessment.problem);
  return ExitCode::failed;
}

ExitCode run_check_all(const CheckOptions& options, Invocation& invocation) {
  using Clock = std::chrono::steady_clock;
  const terminal::StopSignals signals;
  const auto database = invocation.database();
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const auto rate = [&](const BulkReport& report) {
    return static_cast<double>(report.checked) / std::max(seconds(), 0.001);
  };
  terminal::LiveLine line{invocation.console.err, invocation.console.err_screen};
  const BulkReport report = check_everybody(
      *database, {.batch = static_cast<std::size_t>(options.batch), .dry_run = options.dry_run},
      signals.token(), [&](const BulkReport& so_far, const std::vector<Upgrade>&) {
        line.show(progress_of(so_far, rate(so_far)));
      });
  line.clear();
  if (invocation.json) {
    terminal::print_json(invocation.console, json_of(JsonMembers{{"checked", report.checked},
                                                                 {"upgraded", report.upgraded},
                                                                 {"failed", report.failed},
                                                                 {"stopped", report.stopped},
                                                                 {"seconds", seconds()},
                                                                 {"perSecond", rate(report)}}));
  } else {
    fmt::print(invocation.console.out, "{}{} checked in {:.1f} s, {}/s; {} {}\n",
               report.stopped ? "stopped: " : "", terminal::format_count(report.checked), seconds(),
               terminal::format_count(static_cast<std::int64_t>(rate(report))),
               terminal::format_count(report.upgraded),
               options.dry_run ? "would be upgraded" : "upgraded");
  }
  if (report.failed == 0) return report.stopped ? ExitCode::cancelled : ExitCode::done;
  terminal::complain(invocation.console, kProgram,
                     fmt::format("{} could not be checked; the first: {}",
                                 terminal::format_count(report.failed), report.first_failure));
  return ExitCode::failed;
}

}  // namespace errand::distributors
