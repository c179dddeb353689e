#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "errand/clock.hpp"
#include "errand/dsn.hpp"
#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/logger.hpp"
#include "errand/signals.hpp"
#include "errand/timestamp.hpp"

namespace errand {

/// A message as it lies in a transport: bytes and headers that another program may have written and
/// nothing here needs to understand. What it means is a serializer's business.
struct WireMessage {
  std::string body{};
  Headers headers{};

  friend bool operator==(const WireMessage&, const WireMessage&) = default;
};

struct Outgoing {
  WireMessage message{};
  std::chrono::milliseconds delay{0};  ///< rounded up to granularity(); never negative
};

/// The right to end one delivery. `id` names the message in its transport; `mark` is what the
/// transport recognises this very delivery by, as far as the format has room for that.
struct Hold {
  std::string id{};
  std::string mark{};

  friend bool operator==(const Hold&, const Hold&) = default;
};

/// A message in a consumer's hands.
struct Delivery {
  Hold hold{};
  WireMessage message{};
};

class Transport;

/// How a delivery ends: the message is gone. With `forward`, another one is written in its place,
/// together with its end where both are in one storage; elsewhere it is written first, so that a
/// crash between the two doubles the message and never loses it.
struct MessageSettlement {
  struct Forward {
    Transport* to = nullptr;
    Outgoing message{};
  };

  Hold hold{};
  std::optional<Forward> forward{};
};

/// What became of a message that was to be moved.
enum class MoveStatus : std::uint8_t {
  moved,
  left_alone,  ///< a consumer holds it, or it is gone: nothing was done
  doubled,     ///< written in the new place, but somebody took the old one at the same moment
};

enum class MessageSettleStatus : std::uint8_t {
  settled,
  lost,  ///< delivered to somebody else meanwhile, or gone: nothing was done, nothing forwarded
};

/// A message as operators see it.
struct StoredMessage {
  std::string id{};
  WireMessage message{};
  Timestamp created_at{};
  Timestamp available_at{};
  std::optional<Timestamp> delivered_at{};
};

struct TransportStats {
  std::int64_t ready = 0;  ///< can be received now
  std::int64_t delayed = 0;
  std::int64_t in_flight = 0;                               ///< held by consumers
  std::optional<std::chrono::milliseconds> oldest_ready{};  ///< how long it has been due
};

/// A queue of messages without a record, in another program's format: Symfony's, the table
/// `messenger_messages` on SQLite and PostgreSQL, or a stream on Redis.
///
/// All methods are thread-safe and may block on the storage; any throws StorageException, and then
/// nothing has changed unless it says in_doubt. An empty batch touches nothing. Each call is one
/// transaction.
///
/// The clock is the program's, not the server's: that is what the other programs go by. (On Redis
/// the server counts how long a consumer was silent, for them, too.)
class ERRAND_EXPORT Transport {
 public:
  virtual ~Transport() = default;

  /// As TransportOptions say. Without secrets; for people, and for the stamps that tell where a
  /// message came from.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;

  /// Makes what is missing of table, index and trigger, or of stream and group. Idempotent.
  virtual void setup() = 0;

  /// Durable on return. All or none. Throws ValidationException if a body or header is not UTF-8
  /// without NUL.
  virtual void send(std::span<const Outgoing> messages) = 0;

  /// Up to `limit` messages that are due, oldest first; empty if there is none. They are this
  /// consumer's until settled or released, or until redeliver_timeout() has passed without
  /// keep_alive().
  [[nodiscard]] virtual std::vector<Delivery> receive(std::size_t limit) = 0;

  /// For handlers that take long: redeliver_timeout() begins anew. The new hold for each of
  /// `holds`, in order; nullopt where it is lost.
  virtual std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) = 0;

  /// One status for each, in order.
  virtual std::vector<MessageSettleStatus> settle(
      std::span<const MessageSettlement> settlements) = 0;

  /// Hands back what was not begun: the next one who asks gets it, perhaps under another id and in
  /// another place. The lost ones are left alone.
  virtual void release(std::span<const Hold> holds) = 0;

  /// When the next delayed message is due, if there is one.
  [[nodiscard]] virtual std::optional<std::chrono::milliseconds> next_due() = 0;

  /// How exact due times are: a delayed message is due at the next multiple of this, never early.
  [[nodiscard]] virtual std::chrono::milliseconds granularity() const noexcept {
    return std::chrono::milliseconds{1};
  }

  /// How long a consumer may be silent.
  [[nodiscard]] virtual std::chrono::milliseconds redeliver_timeout() const noexcept = 0;

  [[nodiscard]] virtual TransportStats stats() = 0;

  /// In the order of sending, whatever their state. On Redis the delayed ones come last.
  [[nodiscard]] virtual std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) = 0;
  [[nodiscard]] virtual std::optional<StoredMessage> find(const std::string& id) = 0;

  /// Those that no consumer holds; returns how many there were.
  virtual std::size_t remove(std::span<const std::string> ids) = 0;

  /// Takes a message that no consumer holds out of this transport and writes `forward` in its
  /// place: in one step where both are in one storage; elsewhere it is written first, so that a
  /// crash between the two doubles the message and never loses it.
  [[nodiscard]] virtual MoveStatus move(const std::string& id,
                                        const MessageSettlement::Forward& forward) = 0;

  /// All, those that consumers hold included.
  virtual std::size_t purge() = 0;

  /// Whether both name one queue, by whatever DSN or name: what is sent to one comes from the
  /// other.
  [[nodiscard]] virtual bool is_same_queue(const Transport& other) const { return this == &other; }

  /// Signal::work: messages have come, to this queue. See Signals for what that promises.
  [[nodiscard]] virtual Signals& signals() noexcept = 0;
};

struct TransportOptions {
  /// How configuration and stamps call it; empty: as its queue.
  std::string name{};

  /// Must outlive the transport. The other programs' clocks must agree with it.
  const Clock* clock = &system_clock();

  /// Told what the transport does on its own. Must outlive it.
  Logger* logger = &silent_logger();

  enum class Open : std::uint8_t {
    create,    ///< make file and table where there are none, unless the DSN says auto_setup=no
    existing,  ///< StorageException where there is nothing: for programs that only look
    setup,     ///< make them whatever the DSN says: for those who ask for just that
  };
  Open open = Open::create;
};

/// Opens the transport that the DSN names, with these options beside those of the connection.
///
/// On SQLite and PostgreSQL:
///
///     table_name          messenger_messages; `schema.table` on PostgreSQL
///     queue_name          default; several queues share a table
///     redeliver_timeout   3600, in seconds: the same as at the other programs
///     auto_setup          yes
///     remove_after        0, in seconds: how long consumed messages are kept
///
/// On Redis, redis://host/stream/group or redis://host?stream=…: redeliver_timeout, auto_setup and
/// remove_after as above, and
///
///     stream, group       messages, symfony: those of the other programs
///     consumer            errand: what the names of our consumers begin with
///     dbindex             0, the number of the database
///     delete_after_ack, delete_after_reject   yes
///     stream_max_entries  0: any number
///     claim_interval      60000, in milliseconds: how often lost messages are looked for
///
/// Throws ConfigurationException for options it does not know, StorageException if the storage
/// cannot be reached. Part of errand::errand, which links every engine built.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Transport> open_transport(
    const Dsn& dsn, const TransportOptions& options = {});

}  // namespace errand
