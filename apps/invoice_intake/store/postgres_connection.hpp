#pragma once

#include <libpq-fe.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/dsn.hpp"

#include "invoice_intake/store/database.hpp"

namespace errand::invoices {

/// The DSN as libpq takes it: without the options that are Errand's own. Secrets and all.
[[nodiscard]] std::string libpq_uri(const Dsn& dsn);

/// One connection of libpq's. Used by one thread at a time.
class PostgresConnection {
 public:
  /// Throws StorageException without the secrets of `uri`.
  explicit PostgresConnection(const std::string& uri);

  [[nodiscard]] PGconn* handle() const noexcept { return connection_.get(); }

  /// Whether the next one may have it: alive, and in no transaction.
  [[nodiscard]] bool is_idle() const noexcept {
    return PQstatus(handle()) == CONNECTION_OK && PQtransactionStatus(handle()) == PQTRANS_IDLE;
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

/// One statement. Throws StorageException.
Rows run_statement(PGconn* connection, const std::string& sql, const std::vector<Text>& parameters);

/// One or more statements without parameters; the rows of the last one.
Rows run_script(PGconn* connection, const std::string& sql);

/// COMMIT; a connection that breaks in it leaves the outcome in_doubt.
void commit(PGconn* connection);

}  // namespace errand::invoices
