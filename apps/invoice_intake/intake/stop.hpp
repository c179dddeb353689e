#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

namespace errand::invoices {

/// A stop that watchers wait for beside the descriptors they watch.
class Stop {
 public:
  /// Throws std::system_error.
  explicit Stop(std::stop_token token);
  ~Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  [[nodiscard]] bool requested() const { return token_.stop_requested(); }

  /// Waits until `watched` (-1: nothing) can be read, the time is over, or a stop is requested.
  /// True: it can be read.
  [[nodiscard]] bool wait(int watched, std::chrono::milliseconds timeout) const;

 private:
  std::stop_token token_;
  int event_;  ///< can be read once a stop is requested
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace errand::invoices
