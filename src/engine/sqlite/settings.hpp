#pragma once

#include <span>
#include <string_view>

#include "errand/clock.hpp"
#include "errand/dsn.hpp"

#include "engine/sqlite/database.hpp"

namespace errand::sqlite {

/// What the DSN says of the file and how to use it. `other_options` are somebody else's business.
/// Throws ConfigurationException for options that nobody knows.
[[nodiscard]] Database::Settings database_settings(
    const Dsn& dsn, const Clock& clock, std::span<const std::string_view> other_options = {});

}  // namespace errand::sqlite
