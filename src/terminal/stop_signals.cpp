#include "terminal/stop_signals.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace errand::terminal {
namespace {

// What a signal handler may touch.
std::atomic<int> event_of_handler{-1};
std::atomic<std::int64_t> first_signal_ms{0};  ///< 0: none yet

static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Programs that stop others often signal the process and then its group, as `timeout` does: that
/// is one wish, not two.
constexpr std::int64_t kSameWishMs = 200;

constexpr std::string_view kAtOnce = "stopped at once, by a second signal\n";

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000 + 1;
}

void on_signal(int number) {
  const int saved = errno;
  const std::int64_t now = milliseconds_now();
  std::int64_t first = 0;
  if (first_signal_ms.compare_exchange_strong(first, now)) {
    eventfd_write(event_of_handler.load(), 1);
  } else if (now - first > kSameWishMs) {
    pollfd terminal{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    // Where nobody reads it would wait.
    if (poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0) {
      static_cast<void>(!write(STDERR_FILENO, kAtOnce.data(), kAtOnce.size()));
    }
    // 128 + number is what a shell reports for a process that a signal ended.
    _exit(128 + number);
  }
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() : event_{eventfd(0, EFD_CLOEXEC)} {
  if (event_ < 0) throw std::system_error{errno, std::generic_category(), "cannot watch signals"};
  event_of_handler = event_;
  first_signal_ms = 0;
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
