#pragma once

#include <csignal>

namespace errand::testing {

/// While it lives, a pipe without reader is an error and not the end: as in run_worker().
class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal() : before_{std::signal(SIGPIPE, SIG_IGN)} {}
  ~IgnoredPipeSignal() { std::signal(SIGPIPE, before_); }
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace errand::testing
