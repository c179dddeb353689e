#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "errand/logger.hpp"
#include "errand/signals.hpp"
#include "errand/task_queue.hpp"

#include "bus/signal_hub.hpp"
#include "engine/redis/listener.hpp"

namespace errand::redis {

/// What the processes tell each other, by pub/sub. The scripts that change tasks publish; here is
/// the one connection that listens, for what somebody here has subscribed to, be it for a while:
/// the server writes to all who listen. Thread-safe.
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
  void tell_completion(const Finish& finish);

  /// Of tasks that are handed to this process, as submit_alone.lua publishes them; and kHeardAgain
  /// when they are heard of once more after the connection was lost. One callback at
  /// a time: it takes the place of the last one, which is not running any more then; null: none.
  static constexpr std::string_view kHeardAgain{};
  using HandedCallback = std::function<void(std::string_view message)>;
  void hear_hand_overs(HandedCallback callback);
  /// False: what is handed over now may not be heard of.
  [[nodiscard]] bool hears_hand_overs() const noexcept {
    return reaches_other_processes() && !is_silent_;
  }

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override;
  [[nodiscard]] bool reaches_other_processes() const noexcept override {
    return hears_all_ && listener_.is_hearing();
  }

 private:
  /// The channels: one for each signal, and that of this process.
  static constexpr std::size_t kChannelCount = kSignalCount + 1;
  using Wanted = std::bitset<kChannelCount>;

  /// Asks for this channel, too, unless somebody has.
  void want(std::size_t channel);

  void listen(Connection& connection, const std::stop_token& stop);
  void deliver(std::string_view channel, std::string_view message);
  void deliver_completion(std::string_view message);
  /// Asks the server for what is wanted and not among `asked`, which is changed.
  void ask(Connection& connection, Wanted& asked);
  /// The server tells of this channel from now on. Nobody knows what was missed so far.
  void begin_to_hear(std::string_view channel, Wanted& heard);

  const std::string caller_;
  const std::array<std::string, kChannelCount> channels_;
  std::mutex mutex_;
  Wanted wanted_;                        ///< somebody has once subscribed to them
  std::atomic<bool> hears_all_ = false;  ///< that is wanted; set under mutex_
  std::atomic<bool> is_silent_ = false;  ///< asked whether it is there, the server has not answered
  detail::SignalHub hub_;
  std::mutex handed_mutex_;  ///< held while the callback runs
  HandedCallback handed_;
  bool heard_before_ = false;  ///< of hand-overs; of the listener's thread
  Listener listener_;
};

}  // namespace errand::redis
