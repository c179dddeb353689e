#pragma once

#include <memory>
#include <span>
#include <string>

#include "errand/engine.hpp"
#include "errand/export.hpp"

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

/// Schema::script() without opening anything.
[[nodiscard]] ERRAND_EXPORT std::string postgres_schema_script();

}  // namespace errand
