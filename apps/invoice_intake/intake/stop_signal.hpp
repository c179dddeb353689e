#pragma once

#include <chrono>

namespace errand::invoices {

/// A descriptor that becomes readable when the program should stop. Watchers wait on it beside what
/// they watch.
class Stop {
 public:
  /// `descriptor` stays the caller's.
  explicit Stop(int descriptor) : descriptor_{descriptor} {}

  [[nodiscard]] bool requested() const;

  /// Waits until `watched` (-1: nothing) can be read, the time is over, or a stop is requested.
  /// True: it can be read.
  [[nodiscard]] bool wait(int watched, std::chrono::milliseconds timeout) const;

 private:
  int descriptor_;
};

/// SIGTERM and SIGINT as a descriptor, from its construction on. Construct it before other threads
/// are started: they inherit that these signals do not end them.
class StopSignals {
 public:
  /// Throws std::system_error.
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] Stop stop() const { return Stop{descriptor_}; }

 private:
  int descriptor_;
};

}  // namespace errand::invoices
