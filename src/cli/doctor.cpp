#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/ostream.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"

#include "cli/colour.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "terminal/display.hpp"

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

std::string mark_for(Severity severity, const Screen& screen) {
  switch (severity) {
    case Severity::ok:
      return paint("✓", Colour::green, screen);
    case Severity::warning:
      return paint("!", Colour::yellow, screen);
    case Severity::problem:
      break;
  }
  return paint("✗", Colour::red, screen);
}

std::string findings_json(const Dsn& dsn, const std::vector<Finding>& findings) {
  boost::json::array items;
  for (const Finding& finding : findings) {
    boost::json::object item{{"severity", word_for(finding.severity)},
                             {"subject", finding.subject},
                             {"detail", finding.detail}};
    if (!finding.fix.empty()) item["fix"] = finding.fix;
    items.push_back(std::move(item));
  }
  return boost::json::serialize(boost::json::object{
      {"dsn", dsn.to_string()}, {"engine", to_string(dsn.kind())}, {"findings", std::move(items)}});
}

void print_findings(const std::vector<Finding>& findings, Console& console) {
  std::size_t column = 0;
  for (const Finding& finding : findings) {
    column = std::max(column, terminal::display_width(terminal::printable(finding.subject)));
  }
  for (const Finding& finding : findings) {
    const std::string subject = terminal::printable(finding.subject);
    fmt::print(console.out, "{} {}{}  {}\n", mark_for(finding.severity, console.out_screen),
               subject, std::string(column - terminal::display_width(subject), ' '),
               terminal::printable(finding.detail));
    if (!finding.fix.empty()) {
      fmt::print(console.out, "  {}  → {}\n", std::string(column, ' '),
                 terminal::printable(finding.fix));
    }
  }
}

ExitCode doctor(const DoctorCommand& command, Invocation& invocation) {
  const Dsn dsn = invocation.dsn();
  const std::unique_ptr<Engine> engine = invocation.open(EngineOptions::Open::inspect);
  const std::vector<Finding> findings = engine->diagnose();
  if (command.json) {
    print_json(invocation.console, findings_json(dsn, findings));
  } else {
    print_findings(findings, invocation.console);
  }
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
