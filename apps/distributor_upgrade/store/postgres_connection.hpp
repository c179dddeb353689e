#pragma once

#include <chrono>
#include <libpq-fe.h>
#include <memory>
#include <string>
#include <vector>

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/store/dsn_options.hpp"

namespace errand::distributors {

/// One connection to PostgreSQL; used by one thread at a time. Any method throws StorageException.
/// A server that is silent for longer than `reply_timeout` is given up, and the connection with it.
class PostgresConnection {
 public:
  explicit PostgresConnection(const PostgresOptions& options);

  /// For libpq: null if it was given up.
  [[nodiscard]] PGconn* handle() const noexcept { return connection_.get(); }
  [[nodiscard]] bool is_broken() const noexcept { return PQstatus(handle()) != CONNECTION_OK; }

  /// Whether the next one may have it.
  [[nodiscard]] bool is_between_transactions() const noexcept {
    return !is_broken() && PQtransactionStatus(handle()) == PQTRANS_IDLE;
  }

  /// Statements without parameters, separated by semicolons, in one message.
  void execute(const std::string& sql);

  Answer query(const std::string& sql, const std::vector<Parameter>& parameters);

  /// in_doubt if the connection breaks before the answer is there.
  void commit();

  void rollback() noexcept;

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Clear>;

  /// The answer of the last statement that was sent. `sent`: what libpq said when it was.
  Result await_answer(int sent);
  /// False: the connection has ended.
  bool await_input(std::chrono::steady_clock::time_point deadline);
  void check(const PGresult* result) const;
  static Answer answer_of(PGresult* result);

  const std::chrono::seconds reply_timeout_;
  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace errand::distributors
