#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "errand/logger.hpp"
#include "errand/signals.hpp"

#include "bus/signal_hub.hpp"
#include "engine/redis/listener.hpp"

namespace errand::redis {

/// What the processes tell each other, by pub/sub. The scripts that change tasks publish; here is
/// the one connection that listens. Thread-safe.
class Notifications final : public Signals {
 public:
  /// `caller`: what the messages of this process begin with. `channels`: what the names of the
  /// channels begin with. Connects in the background when there is somebody to be told, and again
  /// whenever the connection is lost.
  Notifications(ConnectionSettings settings, std::string caller, std::string channels,
                Logger& logger);

  /// Tells this process; the others are told by the script. In these queues; empty: in any.
  void tell_work(std::span<const std::string> queues);
  void tell_cancellation();
  void tell_completion(std::span<const TaskId> tasks);

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override {
    return listener_.is_hearing();
  }

 private:
  void listen(Connection& connection, const std::stop_token& stop);
  void deliver(std::string_view channel, std::string_view message);
  /// Nobody knows what was missed while there was no connection.
  void deliver_everything();

  const std::string caller_;
  const std::string channels_;
  detail::SignalHub hub_;
  Listener listener_;
};

}  // namespace errand::redis
