#include "invoice_intake/intake/stop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace errand::invoices {

Stop::Stop(std::stop_token token)
    : token_{std::move(token)}, event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (event_ < 0) {
    throw std::system_error{errno, std::generic_category(), "cannot watch for a stop"};
  }
  on_stop_.emplace(token_, [event = event_] { eventfd_write(event, 1); });
}

Stop::~Stop() {
  on_stop_.reset();  // it may be at work
  close(event_);
}

bool Stop::wait(int watched, std::chrono::milliseconds timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> entries{pollfd{.fd = event_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = watched, .events = POLLIN, .revents = 0}};
    const int ready = poll(entries.data(), entries.size(),
                           static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && entries[0].revents == 0 && entries[1].revents != 0;
  }
}

}  // namespace errand::invoices
