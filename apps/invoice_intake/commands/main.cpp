#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <ios>
#include <iostream>
#include <ostream>
#include <unistd.h>

#include "cli/console.hpp"
#include "cli/output_stream.hpp"
#include "invoice_intake/commands/program.hpp"

namespace {

/// A program started with a standard stream closed would get its number for the next file it
/// opens, and write its output into a database.
void open_missing_standard_streams() {
  int descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a write tells it, and what is open gets closed properly
  std::ios::sync_with_stdio(false);

  errand::cli::OutputBuffer out_buffer{STDOUT_FILENO};
  std::ostream out{&out_buffer};
  out.exceptions(std::ios::badbit);
  errand::cli::OutputBuffer err_buffer{STDERR_FILENO};
  std::ostream err{&err_buffer};
  err << std::unitbuf;

  errand::cli::Console console{.in = std::cin,
                               .out = out,
                               .err = err,
                               .in_is_terminal = isatty(STDIN_FILENO) != 0,
                               .out_screen = errand::cli::Screen::of(STDOUT_FILENO),
                               .err_screen = errand::cli::Screen::of(STDERR_FILENO)};
  return static_cast<int>(errand::invoices::run({argv + std::min(argc, 1), argv + argc}, console));
}
