#pragma once

#include <memory>
#include <span>
#include <string>

#include "errand/clock.hpp"
#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/transport.hpp"

struct sqlite3;  // SQLite's connection

namespace errand {

/// The embedded engine: one SQLite file, any number of threads and processes of one machine.
///
/// Options of the DSN: `synchronous=full` (default: a return from submit survives a power cut) or
/// `normal` (survives a crash of the process, may lose the last moments on a power cut);
/// `ttl=SECONDS`; `busy_timeout=SECONDS`, how long to wait for other processes' transactions
/// before StorageException (default 30).
///
/// Beside `FILE` there are SQLite's `FILE-wal` and `FILE-shm`, and `FILE-wake`, through which
/// processes wake each other; the last one holds no data and may be deleted when nothing runs.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Engine> open_sqlite(const Dsn& dsn,
                                                                const EngineOptions& options = {});

/// `messenger_messages` in an SQLite file. See open_transport(); the file is turned to WAL.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Transport> open_sqlite_transport(
    const Dsn& dsn, const TransportOptions& options = {});

/// Sends the messages in the transaction that is open on the caller's connection to the same file:
/// they are there if and when it commits. `to` must be an SQLite transport; it is not used itself.
/// Bus::prepare() makes them of messages.
///
/// Throws ConfigurationException if `to` is another kind of transport or no transaction is open;
/// ValidationException; StorageException, after which the transaction should be rolled back.
ERRAND_EXPORT void send_in_transaction(sqlite3* connection, const Transport& to,
                                       std::span<const Outgoing> messages);

/// Stores the tasks in the transaction that is open on the caller's connection to the engine's
/// file: they exist if and when it commits. Begin it with BEGIN IMMEDIATE. Tasks::prepare() makes
/// them of messages. Workers find them by their own look, which comes once a second: a transaction
/// of somebody else's sends no signals.
///
/// Throws ValidationException and stores none if validate() would for one of them;
/// StorageException, after which the transaction should be rolled back.
ERRAND_EXPORT void submit_in_transaction(sqlite3* connection, std::span<const NewTask> tasks,
                                         const Clock& clock = system_clock());

/// Schema::script() without opening anything.
[[nodiscard]] ERRAND_EXPORT std::string sqlite_schema_script();

}  // namespace errand
