#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <utility>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "terminal/program.hpp"

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

ExitCode parse_and_run(std::vector<std::string> arguments, Console& console) {
  CLI::App root{"Durable background tasks: submit, run, wait, operate.", "errand"};
  Invocation invocation{.console = console, .dsn_option = {}, .command = {}};
  terminal::begin_program(root, console.out_screen, kFooter);
  add_dsn(root, invocation);
  for (const auto add : kCommands) add(root, invocation);
  const auto ended = terminal::parse_arguments(root, std::move(arguments), console);
  return ended ? *ended : invocation.command();
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
