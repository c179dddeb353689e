#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/redis/connection.hpp"

namespace errand::redis {

/// Connections, opened when they are needed and kept for the next one who does. Thread-safe.
class ConnectionPool {
 public:
  ConnectionPool(const ConnectionSettings& settings, std::size_t most)
      : settings_{settings}, most_{most} {}

  /// A connection of one thread; given back at the end, unless it broke.
  class Loan {
   public:
    /// Waits for one if all are lent. Throws StorageException if a new one cannot be opened.
    explicit Loan(ConnectionPool& pool);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    [[nodiscard]] Connection& connection() const noexcept { return *connection_; }

   private:
    ConnectionPool& pool_;
    std::unique_ptr<Connection> connection_;
  };

 private:
  const ConnectionSettings settings_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t lent_ = 0;
};

}  // namespace errand::redis
