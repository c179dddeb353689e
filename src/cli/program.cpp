#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/ostream.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/version.hpp"
#include "terminal/display.hpp"
#include "terminal/help.hpp"
#include "terminal/usage_error.hpp"

namespace errand::cli {
namespace {

/// In the order of the help. A new command is one line here.
constexpr std::array kCommands{
    add_submit, add_send,      add_status, add_wait,    add_cancel,     add_list,  add_worker,
    add_queue,  add_transport, add_failed, add_stats,   add_top,        add_serve, add_clean,
    add_setup,  add_doctor,    add_bench,  add_version, add_completion,
};

constexpr const char* kFooter =
    "Exit status:\n"
    "  0  done                       4  timed out\n"
    "  1  the task failed            5  no such task: unknown or expired\n"
    "  2  usage, data, DSN           6  storage unreachable\n"
    "  3  the task was cancelled\n"
    "\n"
    "Examples:\n"
    "  id=$(errand submit errand.echo '{\"a\":1}')\n"
    "  errand worker --drain        # run what is due, then end; without --drain, go on\n"
    "  errand wait \"$id\"            # {\"a\":1}\n"
    "\n"
    "errand COMMAND --help tells more about a command.";

void build(CLI::App& root, Invocation& invocation) {
  terminal::lay_out_help(root, invocation.console.out_screen);
  root.set_version_flag("--version", std::string{"errand "} + kVersion, "Print the version")
      ->group(kCommonOptions);
  root.require_subcommand(1);
  root.footer(kFooter);
  add_dsn(root, invocation);
  for (const auto add : kCommands) add(root, invocation);
}

/// `errand help failed list` is `errand failed list --help`.
void translate_help_command(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

ExitCode parse_and_run(std::vector<std::string> arguments, Console& console) {
  CLI::App root{"Durable background tasks: submit, run, wait, operate.", "errand"};
  Invocation invocation{.console = console, .dsn_option = {}, .command = {}};
  build(root, invocation);
  if (arguments.empty()) {
    console.err << root.help();
    return ExitCode::usage;
  }
  translate_help_command(arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    root.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    console.out << root.help();
    return ExitCode::done;
  } catch (const CLI::CallForVersion& version) {
    fmt::print(console.out, "{}\n", version.what());
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    fmt::print(console.err, "errand: {}\n",
               terminal::printable(terminal::explain_usage_error(root, error)));
    return ExitCode::usage;
  }
  return invocation.command();
}

}  // namespace

ExitCode run(std::vector<std::string> arguments, Console& console) noexcept {
  try {
    const ExitCode code = parse_and_run(std::move(arguments), console);
    console.out.flush();
    return code;
  } catch (...) {
    return report(std::current_exception(), console);
  }
}

}  // namespace errand::cli
