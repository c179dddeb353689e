#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "errand/logger.hpp"
#include "errand/signals.hpp"

#include "bus/signal_hub.hpp"
#include "engine/redis/connection.hpp"

namespace errand::redis {

/// Tells those who wait of new messages in a stream, whoever added them: a connection of its own
/// waits for them, as a reader who is in no group and takes nothing away. Thread-safe.
class StreamWaker final : public Signals {
 public:
  /// Connects in the background when there is somebody to be told, and again whenever the
  /// connection is lost. Must be outlived by `logger`.
  StreamWaker(ConnectionSettings settings, std::string stream, Logger& logger);
  ~StreamWaker() override;
  StreamWaker(const StreamWaker&) = delete;
  StreamWaker& operator=(const StreamWaker&) = delete;

  /// Of what this process has done itself.
  void tell();

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override { return listening_; }

 private:
  void run(const std::stop_token& stop);
  /// Until the connection is lost, or `stop`. `again`: it was lost before.
  void listen(const std::stop_token& stop, bool again);
  void pause(const std::stop_token& stop, std::chrono::milliseconds time);

  const ConnectionSettings settings_;
  const std::string stream_;
  Logger& logger_;
  detail::SignalHub hub_;
  std::atomic<bool> listening_ = false;
  std::once_flag started_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace errand::redis
