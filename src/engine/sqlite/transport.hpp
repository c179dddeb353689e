#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "errand/transport.hpp"

#include "bus/messenger_table.hpp"
#include "bus/queue_signals.hpp"
#include "engine/sqlite/database.hpp"

namespace errand::sqlite {

/// The statements on one table of messages. Times are texts of whole seconds, as PHP writes them.
struct TransportStatements {
  explicit TransportStatements(const std::string& table);

  std::string table_exists;
  std::string any_due;
  std::string claim;
  std::string keep_alive;
  std::string end;
  std::string keep;  ///< ends a delivery as `end`, and leaves the message in the kept queue
  std::string remove_kept;
  std::string release;
  std::string next_due;
  std::string stats;
  std::string list;
  std::string find;
  std::string remove;  ///< what nobody holds
  std::string purge;
};

/// Stores messages in a table of that name. `now`: by the transport's clock.
struct MessageInsert {
  static std::string statement(const std::string& table);
  static void run(Statement& statement, const std::string& queue, const Outgoing& message,
                  Timestamp now);
};

/// `messenger_messages` in an SQLite file.
class SqliteTransport final : public Transport {
 public:
  SqliteTransport(const Dsn& dsn, const TransportOptions& options);

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void setup() override;
  void send(std::span<const Outgoing> messages) override;
  [[nodiscard]] std::vector<Delivery> receive(std::size_t limit) override;
  std::vector<std::optional<Hold>> keep_alive(std::span<const Hold> holds) override;
  std::vector<MessageSettleStatus> settle(std::span<const MessageSettlement> settlements) override;
  void release(std::span<const Hold> holds) override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due() override;
  [[nodiscard]] std::chrono::milliseconds redeliver_timeout() const noexcept override {
    return table_.redeliver_timeout;
  }
  [[nodiscard]] std::chrono::milliseconds granularity() const noexcept override {
    return detail::kTableGranularity;
  }
  [[nodiscard]] TransportStats stats() override;
  [[nodiscard]] std::vector<StoredMessage> list(std::size_t limit, std::size_t offset) override;
  [[nodiscard]] std::optional<StoredMessage> find(const std::string& id) override;
  std::size_t remove(std::span<const std::string> ids) override;
  [[nodiscard]] MoveStatus move(const std::string& id,
                                const MessageSettlement::Forward& forward) override;
  std::size_t purge() override;
  [[nodiscard]] bool is_same_queue(const Transport& other) const override;
  [[nodiscard]] Signals& signals() noexcept override { return signals_; }

  [[nodiscard]] const detail::MessengerTable& table() const noexcept { return table_; }
  [[nodiscard]] detail::Seconds now() const { return detail::whole_seconds(exactly_now()); }
  [[nodiscard]] Timestamp exactly_now() const { return database_->now(); }

 private:
  [[nodiscard]] bool table_exists();
  /// Null if it is in another storage.
  [[nodiscard]] std::vector<MessageSettleStatus> settle_here(
      std::span<const MessageSettlement> settlements);
  [[nodiscard]] const SqliteTransport* in_same_file(const Transport* other) const;
  [[nodiscard]] std::string redelivered_before(detail::Seconds now) const;
  /// False: somebody holds it, or it is gone.
  bool remove(Connection& connection, const std::string& id);
  bool end(Connection& connection, const MessageSettlement& settlement, detail::Seconds now);
  void remove_kept(Connection& connection, detail::Seconds now);
  /// The text must outlive the connections that have prepared it: hence kept here.
  [[nodiscard]] const char* insert_into(const std::string& table);

  const detail::MessengerTable table_;
  const std::string name_;
  const TransportStatements sql_;
  std::mutex inserts_mutex_;
  std::map<std::string, std::string> inserts_;
  detail::Seconds kept_removed_at_{};  ///< under the writer's lock
  std::unique_ptr<Database> database_;
  /// Other programs do not know of the wake file: whoever waits has to look.
  detail::QueueSignals signals_;
};

}  // namespace errand::sqlite
