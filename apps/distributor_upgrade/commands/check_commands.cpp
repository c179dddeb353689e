#include <algorithm>
#include <chrono>
#include <fmt/ostream.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/commands/commands.hpp"
#include "distributor_upgrade/commands/json_views.hpp"
#include "distributor_upgrade/commands/stop_signals.hpp"
#include "distributor_upgrade/upgrade/bulk_check.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"

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
  const Screen& screen = invocation.out_screen;
  const std::string indent(static_cast<std::size_t>(finding.depth) * 2, ' ');
  const std::string mark =
      finding.holds ? paint("✓", Colour::green, screen) : paint("✗", Colour::red, screen);
  if (finding.kind != Finding::Kind::comparison) {
    fmt::print(invocation.out, "  {}{} {}\n", indent, mark, text_of(finding));
    return;
  }
  fmt::print(invocation.out, "  {}{} {:<{}}  {} {} {}{}\n", indent, mark, finding.text,
             width - indent.size(), finding.left, finding.comparison, finding.right,
             finding.missing.empty() ? "" : fmt::format(", {} missing", finding.missing));
}

/// `blocked_by`: a level below that is not reached and may not be skipped, or empty.
void print_step(const Assessment::Step& step, const std::string& blocked_by,
                Invocation& invocation) {
  const Screen& screen = invocation.out_screen;
  if (!step.verdict) {
    fmt::print(invocation.out, "\n{}: {}\n  {}\n", printable(step.level.name),
               paint("cannot be worked out", Colour::red, screen), printable(step.problem));
    return;
  }
  std::string outcome = paint("not reached", Colour::yellow, screen);
  if (step.verdict->holds) {
    outcome = blocked_by.empty()
                  ? paint("reached", Colour::green, screen)
                  : paint("would be reached, but " + printable(blocked_by) + " is not",
                          Colour::yellow, screen);
  }
  fmt::print(invocation.out, "\n{}: {}\n", printable(step.level.name), outcome);
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
    fmt::print(invocation.out, "\nLevels may be skipped: the highest one reached counts.\n");
  }
}

std::string reason_to_stay(const Assessment& assessment) {
  if (assessment.steps.empty()) return "there is no level above";
  if (!assessment.problem.empty()) return "the criteria fail";
  return "the next level is not reached";
}

void print_outcome(const Assessment& assessment, Invocation& invocation) {
  const std::string who = fmt::format("{} (distributor {})", printable(assessment.context.name),
                                      assessment.context.distributor_id);
  const std::string level = printable(assessment.level.name);
  if (!assessment.reached) {
    fmt::print(invocation.out, "{} stays {}: {}\n", who, level, reason_to_stay(assessment));
    return;
  }
  const std::string reached = printable(assessment.reached->name);
  if (assessment.upgrade) {
    fmt::print(invocation.out, "{} rose from {} to {}\n", who, level, reached);
  } else {
    fmt::print(invocation.out, "{} is {} and would rise to {}\n", who, level, reached);
  }
}

/// One line on a terminal that is written over and over; nothing where there is none.
void show_progress(const BulkReport& report, double rate, const Invocation& invocation) {
  if (!invocation.err_screen.is_terminal || report.total == 0) return;
  constexpr std::int64_t kCells = 20;
  const std::int64_t full = std::min(kCells, kCells * report.checked / report.total);
  std::string bar;
  for (std::int64_t i = 0; i < kCells; ++i) bar += i < full ? "█" : "░";
  fmt::print(invocation.err, "\r{} {} % · {} of {} · {} upgraded · {}/s\x1b[K", bar,
             std::min<std::int64_t>(100, 100 * report.checked / report.total),
             format_count(report.checked), format_count(report.total),
             format_count(report.upgraded), format_count(static_cast<std::int64_t>(rate)));
  invocation.err.flush();
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
    invocation.print_json(json_of(assessment));
  } else {
    print_outcome(assessment, invocation);
    print_steps(assessment, invocation);
  }
  if (assessment.problem.empty()) return ExitCode::done;
  fmt::print(invocation.err, "errand-distributors: {}\n", printable(assessment.problem));
  return ExitCode::failed;
}

ExitCode run_check_all(const CheckOptions& options, Invocation& invocation) {
  using Clock = std::chrono::steady_clock;
  const StopSignals signals;
  const auto database = invocation.database();
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const auto rate = [&](const BulkReport& report) {
    return static_cast<double>(report.checked) / std::max(seconds(), 0.001);
  };
  const BulkReport report = check_everybody(
      *database, {.batch = static_cast<std::size_t>(options.batch), .dry_run = options.dry_run},
      signals.token(), [&](const BulkReport& so_far, const std::vector<Upgrade>&) {
        show_progress(so_far, rate(so_far), invocation);
      });
  if (invocation.err_screen.is_terminal) fmt::print(invocation.err, "\r\x1b[K");
  if (invocation.json) {
    invocation.print_json(json_of(JsonMembers{{"checked", report.checked},
                                              {"upgraded", report.upgraded},
                                              {"failed", report.failed},
                                              {"stopped", report.stopped},
                                              {"seconds", seconds()},
                                              {"perSecond", rate(report)}}));
  } else {
    fmt::print(invocation.out, "{}{} checked in {:.1f} s, {}/s; {} {}\n",
               report.stopped ? "stopped: " : "", format_count(report.checked), seconds(),
               format_count(static_cast<std::int64_t>(rate(report))), format_count(report.upgraded),
               options.dry_run ? "would be upgraded" : "upgraded");
  }
  if (report.failed == 0) return report.stopped ? ExitCode::stopped : ExitCode::done;
  fmt::print(invocation.err, "errand-distributors: {} could not be checked; the first: {}\n",
             format_count(report.failed), printable(report.first_failure));
  return ExitCode::failed;
}

}  // namespace errand::distributors
