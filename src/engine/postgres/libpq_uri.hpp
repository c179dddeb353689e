#pragma once

#include <string>

#include "errand/dsn.hpp"

namespace errand::postgres {

/// The DSN as libpq takes it: without our own options, which it would refuse. Secrets and all.
/// Throws ConfigurationException, without the secrets, if libpq does not understand it.
[[nodiscard]] std::string libpq_uri(const Dsn& dsn);

}  // namespace errand::postgres
