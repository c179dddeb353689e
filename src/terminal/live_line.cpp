#include "terminal/live_line.hpp"

#include <array>
#include <csignal>
#include <ostream>
#include <string_view>
#include <unistd.h>

#include "terminal/display.hpp"

namespace errand::terminal {
namespace {

constexpr std::string_view kClear = "\r\x1b[K";
constexpr std::array kEndings{SIGINT, SIGTERM};

/// The prompt of the shell would land in the line.
void end_with_the_line(int number) {
  static_cast<void>(!write(STDERR_FILENO, kClear.data(), kClear.size()));
  raise(number);  // SA_RESETHAND: when this returns, it ends the program as ever
}

/// Only where the signal would end the program: some commands have plans of their own.
void catch_endings() {
  for (const int number : kEndings) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = &end_with_the_line;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

void leave_endings() {
  for (const int number : kEndings) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler == &end_with_the_line) std::signal(number, SIG_DFL);
  }
}

}  // namespace

void LiveLine::show(std::string_view text) {
  if (!screen_.is_terminal) return;
  if (!shown_) catch_endings();
  err_ << '\r' << truncate(text, screen_.width - 1) << "\x1b[K" << std::flush;
  shown_ = true;
}

void LiveLine::clear() {
  if (!shown_) return;
  err_ << kClear << std::flush;
  leave_endings();
  shown_ = false;
}

}  // namespace errand::terminal
