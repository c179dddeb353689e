#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "errand/logger.hpp"

#include "core/connection_pool.hpp"
#include "engine/postgres/connection.hpp"
#include "engine/postgres/notifications.hpp"

namespace errand::postgres {

using ConnectionPool = detail::ConnectionPool<Connection, ConnectionSettings>;

/// What a transaction changed that others wait for; told after it has committed.
struct Changes {
  std::vector<std::string> queues;  ///< where there is work now
  bool work = false;                ///< in a queue that is not known here
  bool cancellation = false;
  std::vector<TaskId> final_tasks;
};

struct DatabaseSettings {
  ConnectionSettings connection;
  std::size_t most_connections = 10;
  std::chrono::milliseconds ttl{0};
  bool listen = true;  ///< false: other processes are not heard of, and must be polled for
  WorkChannel work{};
};

/// The server as this process uses it: a few connections, and what the processes tell each other.
/// Thread-safe.
class Database {
 public:
  Database(DatabaseSettings settings, Logger& logger);

  /// Calls `body(Connection&)`, which reads.
  template <class Body>
  auto read(Body&& body) {
    try {
      return borrow([&](Connection& connection) { return body(connection); });
    } catch (const StorageException& error) {
      // Nothing can have changed.
      if (error.retry() != StorageException::Retry::in_doubt) throw;
      throw StorageException{error.what(), StorageException::Retry::helps};
    }
  }

  /// Calls `body(Connection&, Changes&)`, which runs one transaction; then tells what it changed.
  /// Again, if the server rolled it back for a deadlock with another one.
  template <class Body>
  auto write(Body&& body) {
    for (int tries = 1;; ++tries) {
      Changes changes;
      try {
        auto result = borrow([&](Connection& connection) { return body(connection, changes); });
        tell(changes);
        return result;
      } catch (const Deadlock&) {
        if (tries == kMostTries) throw;
      }
    }
  }

  /// For a transaction of several round trips: `body(Connection&, Changes&)` between BEGIN and
  /// COMMIT. Rolled back if it throws.
  template <class Body>
  auto write_in_steps(Body&& body) {
    return write([&](Connection& connection, Changes& changes) {
      connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED");
      try {
        auto result = body(connection, changes);
        connection.execute("COMMIT");
        return result;
      } catch (...) {
        roll_back(connection);
        throw;
      }
    });
  }

  /// After a statement failed between BEGIN and COMMIT.
  static void roll_back(Connection& connection) noexcept;

  /// For transactions of handlers, which last as long as the handlers do: apart from the others, so
  /// that a worker with all its handlers in one can still extend their leases.
  [[nodiscard]] ConnectionPool& handler_connections() noexcept { return handler_connections_; }

  /// What must come first in a transaction of the queue's where sessions are not ours.
  [[nodiscard]] std::vector<Query> transaction_settings() const {
    if (settings_.connection.prepare) return {};
    std::vector<Query> queries;
    queries.push_back(queue_settings(Scope::transaction));
    return queries;
  }

  /// The server's clock.
  [[nodiscard]] Timestamp now();

  /// Tells other processes and this one.
  void tell(const Changes& changes);

  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept { return settings_.ttl; }
  [[nodiscard]] Signals& signals() noexcept { return notifications_; }
  [[nodiscard]] const DatabaseSettings& settings() const noexcept { return settings_; }

 private:
  static constexpr int kMostTries = 5;

  template <class Body>
  auto borrow(Body&& body) {
    const ConnectionPool::Loan loan{connections_};
    return body(loan.connection());
  }

  DatabaseSettings settings_;
  ConnectionPool connections_;
  ConnectionPool handler_connections_;
  Notifications notifications_;
};

}  // namespace errand::postgres
