#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace errand::terminal {

/// While it lives, the first SIGTERM or SIGINT requests a stop and the second one ends the process
/// at once, whichever thread receives them. One at a time in a process.
class StopSignals {
 public:
  /// Throws std::system_error.
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  void run();

  int event_;
  struct sigaction previous_term_ {};
  struct sigaction previous_int_ {};
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace errand::terminal
