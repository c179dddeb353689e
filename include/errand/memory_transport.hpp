#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "errand/bus.hpp"
#include "errand/clock.hpp"
#include "errand/codec.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"
#include "errand/transport.hpp"

/// Transports for the tests of programs that send or handle messages. Nothing outlives them.
namespace errand {

namespace detail {
class SymfonySerializer;
}

/// Messages in this process's memory. Behaves as the stored ones do, redelivery and fencing
/// included; and remembers what was sent.
class ERRAND_EXPORT MemoryTransport final : public Transport {
 public:
  explicit MemoryTransport(std::string name = "memory", const Clock& clock = system_clock());
  ~MemoryTransport() override;
  MemoryTransport(const MemoryTransport&) = delete;
  MemoryTransport& operator=(const MemoryTransport&) = delete;

  /// All that was ever sent or forwarded here, in order; with a type, those of that header `type`.
  /// That is what the type is called on the wire: a class name of PHP's where there is one.
  [[nodiscard]] std::vector<Outgoing> sent(std::string_view type = {}) const;

  /// How many sent() returns.
  [[nodiscard]] std::size_t count_sent(std::string_view type = {}) const;

  /// The messages of that type that were sent, as the handler would get them. Throws
  /// ValidationException if one of them is none.
  ///
  ///     EXPECT_EQ(transport.sent_messages<Sms>("sms.send").at(0).to, "+491");
  template <class Message>
  [[nodiscard]] std::vector<Message> sent_messages(std::string_view type) const {
    std::vector<Message> messages;
    for (const Outgoing& outgoing : sent(type)) {
      messages.push_back(decode<Message>(outgoing.message.body));
    }
    return messages;
  }

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void setup() override {}
  void send(std::span<const Outgoing> messages) override;
  [[nodiscard]] std::vector<Delivery> receive(std::size_t limit) override;
  std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) override;
  std::vector<MessageSettleStatus> settle(std::span<const MessageSettlement> settlements) override;
  void release(std::span<const Hold> holds) override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due() override;
  [[nodiscard]] std::chrono::milliseconds redeliver_timeout() const noexcept override;
  [[nodiscard]] TransportStats stats() override;
  [[nodiscard]] std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) override;
  [[nodiscard]] std::optional<StoredMessage> find(const std::string& id) override;
  std::size_t remove(std::span<const std::string> ids) override;
  [[nodiscard]] MoveStatus move(const std::string& id,
                                const MessageSettlement::Forward& forward) override;
  std::size_t purge() override;
  [[nodiscard]] Signals& signals() noexcept override;

 private:
  class Hub;
  struct Entry {
    StoredMessage message;
    std::int64_t deliveries = 0;
  };
  using Entries = std::map<std::int64_t, Entry>;

  [[nodiscard]] bool is_held(const Entry& entry, Timestamp now) const;
  [[nodiscard]] Entries::iterator held(const Hold& hold);

  const std::string name_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::int64_t last_id_ = 0;
  std::vector<Outgoing> sent_;
  std::unique_ptr<Hub> hub_;
};

/// Runs the handler while it sends: what the handler throws, send() throws. Delays are not waited
/// for, and it never holds a message. For tests, and for programs too small for a worker.
class ERRAND_EXPORT SyncTransport final : public Transport {
 public:
  /// `handlers` must outlive it. `class_names`: those of the bus that sends. Throws
  /// ConfigurationException if two types share a class.
  explicit SyncTransport(const Handlers& handlers, const ClassNames& class_names = {},
                         std::string name = "sync", Logger& logger = silent_logger());
  ~SyncTransport() override;
  SyncTransport(const SyncTransport&) = delete;
  SyncTransport& operator=(const SyncTransport&) = delete;

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void setup() override {}
  /// In order; the first that throws is the last.
  void send(std::span<const Outgoing> messages) override;
  [[nodiscard]] std::vector<Delivery> receive(std::size_t limit) override;
  std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) override;
  std::vector<MessageSettleStatus> settle(std::span<const MessageSettlement> settlements) override;
  void release(std::span<const Hold> holds) override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due() override;
  [[nodiscard]] std::chrono::milliseconds redeliver_timeout() const noexcept override;
  [[nodiscard]] TransportStats stats() override { return {}; }
  [[nodiscard]] std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) override;
  [[nodiscard]] std::optional<StoredMessage> find(const std::string& id) override;
  std::size_t remove(std::span<const std::string> ids) override;
  [[nodiscard]] MoveStatus move(const std::string& id,
                                const MessageSettlement::Forward& forward) override;
  std::size_t purge() override { return 0; }
  [[nodiscard]] Signals& signals() noexcept override { return empty_.signals(); }

 private:
  const Handlers& handlers_;
  const std::unique_ptr<const detail::SymfonySerializer> serializer_;
  const std::string name_;
  Logger& logger_;
  MemoryTransport empty_;  ///< answers what is asked of one that holds nothing
};

}  // namespace errand
