#include "terminal/stop_signals.hpp"

#include <atomic>
#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace errand::terminal {
namespace {

// What a signal handler may touch.
std::atomic<int> event_of_handler{-1};
std::atomic<int> signals_received{0};

void on_signal(int number) {
  // 128 + number is what a shell reports for a process that a signal ended.
  if (signals_received.fetch_add(1) > 0) _exit(128 + number);
  const int saved = errno;
  eventfd_write(event_of_handler.load(), 1);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() : event_{eventfd(0, EFD_CLOEXEC)} {
  if (event_ < 0) throw std::system_error{errno, std::generic_category(), "cannot watch signals"};
  event_of_handler = event_;
  signals_received = 0;
  thread_ = std::thread{[this] { run(); }};
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &previous_term_);
  sigaction(SIGINT, &action, &previous_int_);
}

StopSignals::~StopSignals() {
  sigaction(SIGTERM, &previous_term_, nullptr);
  sigaction(SIGINT, &previous_int_, nullptr);
  eventfd_write(event_, 1);
  thread_.join();
  event_of_handler = -1;
  close(event_);
}

/// Any event ends it: a signal, or the destructor, whose stop nobody hears any more.
void StopSignals::run() {
  eventfd_t count = 0;
  while (eventfd_read(event_, &count) != 0 && errno == EINTR) {
  }
  stop_.request_stop();
}

}  // namespace errand::terminal
