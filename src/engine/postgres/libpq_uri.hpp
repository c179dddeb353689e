#pragma once

#include <span>
#include <string>
#include <string_view>

#include "errand/dsn.hpp"

namespace errand::postgres {

/// The DSN as libpq takes it: without our own options and those of `other_options`, which it would
/// refuse. Secrets and all. Throws ConfigurationException, without the secrets, if libpq does not
/// understand it.
[[nodiscard]] std::string libpq_uri(const Dsn& dsn,
                                    std::span<const std::string_view> other_options = {});

}  // namespace errand::postgres
