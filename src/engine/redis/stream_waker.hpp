#pragma once

#include <stop_token>
#include <string>

#include "errand/logger.hpp"
#include "errand/signals.hpp"

#include "bus/signal_hub.hpp"
#include "engine/redis/listener.hpp"

namespace errand::redis {

/// Tells those who wait of new messages in a stream, whoever added them: a connection of its own
/// waits for them, as a reader who is in no group and takes nothing away. Thread-safe.
class StreamWaker final : public Signals {
 public:
  /// Connects in the background when there is somebody to be told, and again whenever the
  /// connection is lost. Must be outlived by `logger`.
  StreamWaker(ConnectionSettings settings, std::string stream, Logger& logger);

  /// Of what this process has done itself.
  void tell();

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override {
    return listener_.is_hearing();
  }

 private:
  void listen(Connection& connection, const std::stop_token& stop);

  const std::string stream_;
  detail::SignalHub hub_;
  Listener listener_;
};

}  // namespace errand::redis
