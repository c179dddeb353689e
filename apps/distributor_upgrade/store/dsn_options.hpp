#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "errand/dsn.hpp"

/// One DSN names the database of everything; its options are for different readers.
namespace errand::distributors {

/// What the DSN says of connections to PostgreSQL.
struct PostgresOptions {
  /// Without what is Errand's own: libpq refuses what it does not know. Secrets and all.
  std::string uri{};

  /// A server that does not answer for so long is given up.
  std::chrono::seconds reply_timeout{60};

  /// The most at a time, beside those of the transports.
  std::size_t connections = 10;
};

/// Throws ConfigurationException that names the option, and what it may be.
[[nodiscard]] PostgresOptions postgres_options(const Dsn& dsn);

/// Throws ConfigurationException that names an option which nobody reads, and those there are.
void check_sqlite_options(const Dsn& dsn);

/// Where checks wait: the queue `async_messages` of the table `messenger_messages`, and handled
/// ones are kept for seven days, unless the DSN says otherwise.
[[nodiscard]] Dsn for_checks(const Dsn& dsn);

/// Where checks end that failed to the last: the table `failed_messages`.
[[nodiscard]] Dsn for_failures(const Dsn& dsn);

}  // namespace errand::distributors
