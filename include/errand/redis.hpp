#pragma once

#include <memory>
#include <string>

#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/transport.hpp"

namespace errand {

/// The engine in memory: a Redis server of version 6.2 or newer, not part of a cluster.
///
///     redis://user:password@host:6379/0     rediss://… (TLS)     redis+unix:///path/to.sock
///
/// Options of the DSN: `ttl=SECONDS`; `connections=N`, the most that one engine opens (10) beside
/// the one it listens on; `connect_timeout=SECONDS` (10), `reply_timeout=SECONDS` (60);
/// `prefix=TEXT` before the names of all keys; `database=N` where the path names a socket; for TLS
/// `ca=FILE`, `cert=FILE`, `key=FILE` in PEM form; `durable=1` refuses a server whose settings let
/// it lose what it has acknowledged; `record=shared` or `compact`.
///
/// Of shared records, which are the default, the keys `task:<id>:status` and its six neighbours can
/// be read by any program; compact ones are for Errand's programs only, and cost the server less
/// than half: see docs/operations.md. A storage has records of one kind: opening it for the other
/// one throws ConfigurationException. How much of what was acknowledged survives a crash of the
/// server is the server's setting: see docs/guarantees.md.
///
/// The server's clock rules. While the server cannot be reached, calls throw StorageException;
/// connections are made again by themselves.
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Engine> open_redis(const Dsn& dsn,
                                                               const EngineOptions& options = {});

/// A stream of Symfony's Redis transport, on such a server.
///
///     redis://user:password@host:6379/stream/group     redis+unix:///path/to.sock?stream=messages
///
/// See open_transport().
[[nodiscard]] ERRAND_EXPORT std::unique_ptr<Transport> open_redis_transport(
    const Dsn& dsn, const TransportOptions& options = {});

/// Schema::script() of such a DSN, without opening anything.
[[nodiscard]] ERRAND_EXPORT std::string redis_schema_script(const Dsn& dsn);

}  // namespace errand
