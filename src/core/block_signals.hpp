#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace errand::detail {

/// Around the start of a thread: it inherits that it takes no signals. They are the program's,
/// which may wait for them in a thread of its own. What a fault of the thread itself raises still
/// comes.
class BlockSignals {
 public:
  BlockSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_{};
};

template <class Body>
[[nodiscard]] std::jthread start_without_signals(Body&& body) {
  const BlockSignals inherited;
  return std::jthread{std::forward<Body>(body)};
}

}  // namespace errand::detail
