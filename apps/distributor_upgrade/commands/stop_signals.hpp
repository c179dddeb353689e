#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace errand::distributors {

/// While it lives, the first SIGTERM or SIGINT requests a stop and the second one ends the process
/// at once. Make it before any other thread, which then leaves these signals to it.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait_for_signals();

  std::stop_source stop_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace errand::distributors
