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
#include "engine/postgres/database.hpp"
#include "engine/postgres/transport_statements.hpp"

namespace errand::postgres {

/// `messenger_messages` on a PostgreSQL server.
class PostgresTransport final : public Transport {
 public:
  PostgresTransport(const Dsn& dsn, const TransportOptions& options);

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
  [[nodiscard]] Timestamp exactly_now() const { return clock_.now(); }

 private:
  [[nodiscard]] bool table_exists();
  /// Null if it is in another storage, or reached by another user.
  [[nodiscard]] const PostgresTransport* on_same_server(const Transport* other) const;
  /// With the parameters that ask for these ids, taken at `since`.
  [[nodiscard]] Query of_holds(const std::string& sql, const std::vector<std::int64_t>& ids,
                               std::int64_t since) const;
  /// With queue_name, now and before.
  [[nodiscard]] Query of_queue(const std::string& sql, detail::Seconds now) const;
  /// The text must outlive the connections that have prepared it: hence kept here.
  [[nodiscard]] const std::string& forward_to(const std::string& table);
  [[nodiscard]] const std::string& move_to(const std::string& table);
  [[nodiscard]] std::vector<MessageSettleStatus> settle_here(
      std::span<const MessageSettlement> settlements);
  [[nodiscard]] bool is_time_to_remove_kept(detail::Seconds now);
  void remove_kept_again();

  const detail::MessengerTable table_;
  const std::string name_;
  const Clock& clock_;
  const TransportStatements sql_;
  const std::string insert_;
  std::mutex mutex_;
  std::map<std::string, std::string> forwards_;  ///< by the table they go to
  detail::Seconds kept_removed_at_{};
  std::map<std::string, std::string> moves_;  ///< by the table they go to
  std::unique_ptr<Database> database_;
  detail::QueueSignals signals_;
};

}  // namespace errand::postgres
