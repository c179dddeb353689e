#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "errand/transport.hpp"

#include "engine/redis/delayed_messages.hpp"
#include "engine/redis/stream_group.hpp"
#include "engine/redis/stream_settings.hpp"
#include "engine/redis/stream_waker.hpp"

namespace errand::redis {

/// A stream and its sorted set of delayed messages, as Symfony's Redis transport has them.
///
/// Due times are by the program's clock, as PHP's are; how long a consumer was silent, and when a
/// message was sent, is what the server says.
///
/// transport.cpp has opening and sending; beside it stand transport_receiving.cpp,
/// transport_settling.cpp, and transport_operating.cpp with what operators ask for.
class RedisTransport final : public Transport {
 public:
  RedisTransport(const Dsn& dsn, const TransportOptions& options);
  ~RedisTransport() override;
  RedisTransport(const RedisTransport&) = delete;
  RedisTransport& operator=(const RedisTransport&) = delete;

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void setup() override { group_.create(); }
  void send(std::span<const Outgoing> messages) override;
  [[nodiscard]] std::vector<Delivery> receive(std::size_t limit) override;
  std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) override;
  std::vector<MessageSettleStatus> settle(std::span<const MessageSettlement> settlements) override;
  void release(std::span<const Hold> holds) override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due() override;
  [[nodiscard]] std::chrono::milliseconds redeliver_timeout() const noexcept override {
    return settings_.redeliver_timeout;
  }
  [[nodiscard]] TransportStats stats() override;
  [[nodiscard]] std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) override;
  [[nodiscard]] std::optional<StoredMessage> find(const std::string& id) override;
  std::size_t remove(std::span<const std::string> ids) override;
  [[nodiscard]] MoveStatus move(const std::string& id,
                                const MessageSettlement::Forward& forward) override;
  std::size_t purge() override;
  [[nodiscard]] bool is_same_queue(const Transport& other) const override;
  [[nodiscard]] Signals& signals() noexcept override { return waker_; }

 private:
  using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

  [[nodiscard]] Milliseconds now() const;
  /// As the sorted set counts time.
  [[nodiscard]] std::int64_t due_after(std::chrono::milliseconds delay) const;
  /// Null if it is on another server, or reached by another user.
  [[nodiscard]] const RedisTransport* on_same_server(const Transport* other) const;
  /// As settle and move take it: what this transport would send.
  void add_forward(Command& arguments, const Outgoing& message) const;
  /// Of silence, in milliseconds: then a message is anybody's.
  [[nodiscard]] std::int64_t too_long() const { return redeliver_timeout().count(); }

  // Receiving.
  [[nodiscard]] std::vector<Delivery> receive_from_group(std::size_t limit);
  [[nodiscard]] bool is_time_to_look_for_lost();
  void look_for_lost_next_time();
  [[nodiscard]] std::vector<Delivery> take_over(std::size_t limit);
  void read_new(std::size_t limit, std::vector<Delivery>& deliveries);

  // Settling.
  /// Runs a script that answers for each of some holds whether it was held.
  void ask_of_holds(const Script& script, const Command& before, const Command& arguments,
                    std::size_t holds, std::vector<bool>& answers);
  [[nodiscard]] std::vector<MessageSettleStatus> settle_here(
      std::span<const MessageSettlement> settlements);
  /// The id before which kept messages are removed; empty: it is not the time.
  [[nodiscard]] std::string kept_from();

  const StreamSettings settings_;
  const std::string name_;
  const std::string consumers_;  ///< what the names of our consumers begin with
  const std::string consumer_;   ///< nobody else's
  const Clock& clock_;
  const bool may_create_;
  StreamGroup group_;
  DelayedMessages delayed_;
  std::mutex mutex_;
  std::optional<Timestamp> looked_for_lost_at_;
  std::optional<Timestamp> removed_kept_at_;
  std::atomic<bool> is_in_group_ = false;
  StreamWaker waker_;
};

}  // namespace errand::redis
