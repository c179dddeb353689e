#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/schema_versions.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/paint.hpp"

namespace errand::cli {
namespace {

using Severity = Finding::Severity;

struct DoctorCommand {
  bool json = false;
};

std::string_view word_for(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return "ok";
    case Severity::warning:
      return "warning";
    case Severity::problem:
      break;
  }
  return "problem";
}

std::string mark_for(Severity severity, const terminal::Screen& screen) {
  switch (severity) {
    case Severity::ok:
      return paint("✓", terminal::Colour::green, screen);
    case Severity::warning:
      return paint("!", terminal::Colour::yellow, screen);
    case Severity::problem:
      break;
  }
  return paint("✗", terminal::Colour::red, screen);
}

std::string findings_json(const std::optional<Dsn>& dsn, const std::vector<Finding>& findings) {
  boost::json::array items;
  for (const Finding& finding : findings) {
    boost::json::object item{{"severity", word_for(finding.severity)},
                             {"subject", finding.subject},
                             {"detail", finding.detail}};
    if (!finding.fix.empty()) item["fix"] = finding.fix;
    items.push_back(std::move(item));
  }
  // Of a malformed DSN any part may be a piece of a password.
  boost::json::object report{{"dsn", nullptr}, {"engine", nullptr}};
  if (dsn) report = {{"dsn", dsn->to_string()}, {"engine", to_string(dsn->kind())}};
  report["findings"] = std::move(items);
  return boost::json::serialize(report);
}

/// Printable; line feeds stay, each following line after `margin`.
std::string in_lines(std::string_view text, const std::string& margin) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines += terminal::printable(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
    lines.append(1, '\n').append(margin);
  }
}

void print_findings(const std::vector<Finding>& findings, Console& console) {
  std::size_t column = 0;
  for (const Finding& finding : findings) {
    column = std::max(column, terminal::display_width(terminal::printable(finding.subject)));
  }
  for (const Finding& finding : findings) {
    const std::string subject = terminal::printable(finding.subject);
    const std::string margin(column + 4, ' ');
    fmt::print(console.out, "{} {}{}  {}\n", mark_for(finding.severity, console.out_screen),
               subject, std::string(column - terminal::display_width(subject), ' '),
               in_lines(finding.detail, margin));
    if (!finding.fix.empty()) {
      fmt::print(console.out, "{}→ {}\n", margin, in_lines(finding.fix, margin));
    }
  }
}

/// That the storage cannot be opened is what the doctor was called for: a finding like any other.
/// Engines end their sentence with the next step, after a semicolon; else it is `fix`.
Finding unopened(const Error& error, const char* fix) {
  const std::string sentence = error.what();
  const std::size_t step = sentence.rfind("; ");
  Finding finding{.severity = Severity::problem,
                  .subject = "storage",
                  .detail = sentence.substr(0, step),
                  .fix = fix};
  if (step != std::string::npos) finding.fix = sentence.substr(step + 2);
  return finding;
}

void print_report(const DoctorCommand& command, const std::optional<Dsn>& dsn,
                  const std::vector<Finding>& findings, Console& console) {
  if (command.json) {
    print_json(console, findings_json(dsn, findings));
  } else {
    print_findings(findings, console);
  }
}

ExitCode doctor(const DoctorCommand& command, Invocation& invocation) {
  std::optional<Dsn> dsn;
  std::vector<Finding> findings;
  try {
    dsn = invocation.dsn();
    findings = invocation.open(EngineOptions::Open::inspect)->diagnose();
  } catch (const detail::NoTables& error) {
    // Servers are looked at all the same, and have this among their findings.
    findings = {unopened(error, detail::kMakeTables)};
  } catch (const StorageException& error) {
    const Finding finding = unopened(
        error,
        "check the DSN, and whether the server runs; `errand setup` creates what is missing");
    print_report(command, dsn, {finding}, invocation.console);
    return ExitCode::storage_unreachable;
  } catch (const ConfigurationException& error) {
    print_report(command, dsn, {unopened(error, "check the DSN")}, invocation.console);
    return ExitCode::usage;
  }
  print_report(command, dsn, findings, invocation.console);
  const bool trouble = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::problem; });
  return trouble ? ExitCode::failed : ExitCode::done;
}

}  // namespace

void add_doctor(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<DoctorCommand>();
  CLI::App& command = add_command(
      parent, "doctor", "Look for what makes the storage slow, unsafe or silent", kStorageCommands);
  add_json(command, options->json);
  add_dsn(command, invocation);
  add_examples(command,
               {
                   "errand doctor",
                   R"(errand doctor --json | jq '.findings[] | select(.severity != "ok")')",
               });
  runs(command, invocation, options, doctor);
}

}  // namespace errand::cli
