#include "terminal/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>
#include <utility>

#include "terminal/complaint.hpp"
#include "terminal/help.hpp"
#include "terminal/options.hpp"
#include "terminal/output_stream.hpp"
#include "terminal/usage_error.hpp"
#include "terminal/version.hpp"

namespace errand::terminal {
namespace {

/// A program started with a standard stream closed would get its number for the next file it
/// opens, and write its output into a database.
void open_missing_standard_streams() {
  int descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

/// `errand help failed list` is `errand failed list --help`.
void translate_help_command(std::vector<std::string>& arguments) {
  if (arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

}  // namespace

int run_on_standard_streams(Program program, int argc, char** argv) {
  open_missing_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a write tells it, and what is open gets closed properly
  std::ios::sync_with_stdio(false);

  OutputBuffer out_buffer{STDOUT_FILENO};
  std::ostream out{&out_buffer};
  out.exceptions(std::ios::badbit);
  OutputBuffer err_buffer{STDERR_FILENO};
  std::ostream err{&err_buffer};
  err << std::unitbuf;

  Console console{.in = std::cin,
                  .out = out,
                  .err = err,
                  .in_is_terminal = isatty(STDIN_FILENO) != 0,
                  .out_screen = Screen::of(STDOUT_FILENO),
                  .err_screen = Screen::of(STDERR_FILENO)};
  return static_cast<int>(program({argv + std::min(argc, 1), argv + argc}, console));
}

void begin_program(CLI::App& root, const Screen& screen, const std::string& footer) {
  lay_out_help(root, screen);
  root.set_version_flag("--version", root.get_name() + " " + kVersion, "Print the version")
      ->group(kCommonOptions);
  root.require_subcommand(1);
  root.footer(footer);
}

std::optional<ExitCode> parse_arguments(CLI::App& root, std::vector<std::string> arguments,
                                        Console& console) {
  if (arguments.empty()) {
    console.err << root.help();
    return ExitCode::usage;
  }
  translate_help_command(arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    root.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    if (const std::optional<std::string> unknown = explain_unknown_command(root)) {
      complain(console, root.get_name(), *unknown);
      return ExitCode::usage;
    }
    console.out << root.help();
    return ExitCode::done;
  } catch (const CLI::CallForVersion& version) {
    console.out << version.what() << '\n';
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    complain(console, root.get_name(), explain_usage_error(root, error));
    return ExitCode::usage;
  }
  return std::nullopt;
}

}  // namespace errand::terminal
