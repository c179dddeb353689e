#include "invoice_intake/intake/stop_signal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace errand::invoices {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

bool Stop::requested() const {
  pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1;
}

bool Stop::wait(int watched, std::chrono::milliseconds timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> entries{pollfd{.fd = descriptor_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = watched, .events = POLLIN, .revents = 0}};
    const int ready = poll(entries.data(), entries.size(),
                           static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && entries[0].revents == 0 && entries[1].revents != 0;
  }
}

StopSignals::StopSignals() {
  const sigset_t signals = stop_signals();
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) {
    throw std::system_error{errno, std::generic_category(), "pthread_sigmask"};
  }
  descriptor_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
}

StopSignals::~StopSignals() { close(descriptor_); }

}  // namespace errand::invoices
