#pragma once

#include <cstddef>

#include "core/connection_pool.hpp"
#include "engine/redis/connection.hpp"

namespace errand::redis {

/// A few connections to a server, lent for a call. Thread-safe.
class Server {
 public:
  Server(const ConnectionSettings& settings, std::size_t most_connections)
      : connections_{settings, most_connections} {}

  /// Calls `body(Connection&)`, which changes something by one command.
  template <class Body>
  auto write(Body&& body) {
    const Pool::Loan loan{connections_};
    return body(loan.connection());
  }

  /// Calls `body(Connection&)`, which changes nothing that anybody would miss.
  template <class Body>
  auto read(Body&& body) {
    try {
      const Pool::Loan loan{connections_};
      return body(loan.connection());
    } catch (const StorageException& error) {
      if (error.retry() != StorageException::Retry::in_doubt) throw;
      throw StorageException{error.what(), StorageException::Retry::helps};
    }
  }

 private:
  using Pool = detail::ConnectionPool<Connection, ConnectionSettings>;

  Pool connections_;
};

}  // namespace errand::redis
