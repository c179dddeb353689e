#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "errand/errors.hpp"

namespace errand::detail {

/// Connections to a server, opened when they are needed and kept for the next one who does.
/// Thread-safe.
///
/// `Connection` is made from `Settings`, which have a reply_timeout; is_alive() says whether the
/// server has closed it while nobody looked, is_usable() whether it broke.
template <class Connection, class Settings>
class ConnectionPool {
 public:
  ConnectionPool(const Settings& settings, std::size_t most) : settings_{settings}, most_{most} {}

  /// A connection of one thread; given back at the end, unless it broke.
  class Loan {
   public:
    /// Waits for one if all are lent. Throws StorageException if that takes longer than a reply
    /// may, or if a new one cannot be opened.
    explicit Loan(ConnectionPool& pool) : pool_{pool}, connection_{pool.take()} {
      if (connection_) return;
      try {
        connection_ = std::make_unique<Connection>(pool_.settings_);
      } catch (...) {
        pool_.give_back(nullptr);
        throw;
      }
    }
    ~Loan() { pool_.give_back(std::move(connection_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    [[nodiscard]] Connection& connection() const noexcept { return *connection_; }

   private:
    ConnectionPool& pool_;
    std::unique_ptr<Connection> connection_;
  };

 private:
  /// Null: there is room for a new one.
  std::unique_ptr<Connection> take() {
    std::unique_lock lock{mutex_};
    if (!returned_.wait_for(lock, settings_.reply_timeout, [this] { return lent_ < most_; })) {
      throw StorageException{"all connections are in use; raise connections=N in the DSN",
                             StorageException::Retry::helps};
    }
    ++lent_;
    while (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      // The server may have been restarted since: all its connections are closed then.
      if (connection->is_alive()) return connection;
    }
    return nullptr;
  }

  void give_back(std::unique_ptr<Connection> connection) {
    {
      const std::lock_guard lock{mutex_};
      --lent_;
      if (connection && connection->is_usable()) idle_.push_back(std::move(connection));
    }
    returned_.notify_one();
  }

  const Settings settings_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t lent_ = 0;
};

}  // namespace errand::detail
