#pragma once

#include <string>

#include "errand/dsn.hpp"

/// One DSN names the database of everything; its options are for different readers.
namespace errand::distributors {

/// Without what is Errand's own: libpq refuses what it does not know. Secrets and all.
[[nodiscard]] std::string for_libpq(const Dsn& dsn);

/// Where checks wait: the queue `async_messages` of the table `messenger_messages`, and handled
/// ones are kept for seven days, unless the DSN says otherwise.
[[nodiscard]] Dsn for_checks(const Dsn& dsn);

/// Where checks end that failed to the last: the table `failed_messages`.
[[nodiscard]] Dsn for_failures(const Dsn& dsn);

}  // namespace errand::distributors
