#pragma once

#include <memory>
#include <span>
#include <string>

#include "errand/codec.hpp"
#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"
#include "errand/transport.hpp"

struct pg_conn;  // libpq's PGconn

namespace errand {

/// The engine for many machines: a PostgreSQL server of version 13 or newer.
///
/// The DSN is any libpq URI, with these options beside libpq's own: `ttl=SECONDS`;
/// `connections=N`, the most that one engine opens (10) beside the one it listens on;
/// `reply_timeout=SECONDS` (60); `prepare=no` behind a pooler that gives each transaction another
/// connection; `listen=no` where LISTEN does not work: whoever waits polls then.
///
/// The server's clock rules. While the server cannot be reached, calls throw StorageException;
/// connections are made again by themselves.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Engine> open_postgres(
    const Dsn& dsn, const EngineOptions& options = {});

/// Stores the tasks in the transaction that is open on the caller's connection: they exist if and
/// when it commits. The connection must have Errand's tables in its search path and must not be in
/// pipeline mode. Tasks::prepare() makes them of messages.
///
/// Throws ValidationException and stores none if validate() would for one of them;
/// StorageException, after which the transaction can only be rolled back.
ERRAND_EXPORT void submit_in_transaction(pg_conn* connection, std::span<const NewTask> tasks);

/// Sends the messages in the transaction that is open on the caller's connection: they are there if
/// and when it commits. `to` must be a PostgreSQL transport whose table the connection can find; it
/// is not used itself. Bus::prepare() makes them of messages.
///
/// Throws ConfigurationException if `to` is another kind of transport or no transaction is open;
/// ValidationException; StorageException, after which the transaction can only be rolled back.
ERRAND_EXPORT void send_in_transaction(pg_conn* connection, const Transport& to,
                                       std::span<const Outgoing> messages);

/// A transaction on the engine's server that also completes the task of the handler it is used in:
/// effects and outcome are stored together, or neither is.
///
///     app.handle<Charge>("charge", [&](const Charge& m, errand::TaskContext& context) {
///       errand::CompletingTransaction transaction{app.engine(), context};
///       PQexec(transaction.connection(), "UPDATE accounts SET …");
///       return transaction.complete(Receipt{m.id});
///     });
///
/// Not complete()d, it is rolled back, and the handler ends the attempt as any other does. Used by
/// the handler's thread. Each one under way has a connection of its own, beside those of the
/// engine's pool.
class ERRAND_EXPORT CompletingTransaction {
 public:
  /// Begins. Throws ConfigurationException if the engine is not PostgreSQL or no worker runs the
  /// handler; StorageException.
  CompletingTransaction(Engine& engine, TaskContext& context);
  ~CompletingTransaction();
  CompletingTransaction(const CompletingTransaction&) = delete;
  CompletingTransaction& operator=(const CompletingTransaction&) = delete;

  /// For PQexec() and its like. Do not commit, roll back, or enter pipeline mode.
  [[nodiscard]] pg_conn* connection() const noexcept;

  /// Completes the task with this result and commits. Throws Cancelled if the lease is lost, and
  /// StorageException, also if the transaction has failed or ended already; nothing has happened
  /// then, unless it says in_doubt, where the next attempt finds out.
  template <class T>
  T complete(T result) {
    complete_json(encode(result));
    return result;
  }
  void complete_json(const std::string& result);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// `messenger_messages` on a PostgreSQL server. See open_transport().
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Transport> open_postgres_transport(
    const Dsn& dsn, const TransportOptions& options = {});

/// Schema::script() without opening anything.
[[nodiscard]] ERRAND_EXPORT std::string postgres_schema_script();

}  // namespace errand
