#pragma once

#include <span>
#include <string_view>

#include "errand/dsn.hpp"

#include "engine/postgres/database.hpp"

namespace errand::postgres {

/// What the DSN says of the server and how to use it. `other_options` are somebody else's business.
/// Throws ConfigurationException for options that neither we nor libpq know.
[[nodiscard]] DatabaseSettings database_settings(
    const Dsn& dsn, std::span<const std::string_view> other_options = {});

}  // namespace errand::postgres
