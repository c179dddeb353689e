#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "errand/dsn.hpp"
#include "errand/export.hpp"

/// The options of a DSN as engines read them. Each throws ConfigurationException that names the
/// option and what it may be.
namespace errand::detail {

[[nodiscard]] ERRAND_EXPORT std::chrono::milliseconds seconds_option(
    const Dsn& dsn, std::string_view name, std::chrono::milliseconds fallback);

[[nodiscard]] ERRAND_EXPORT std::int64_t number_option(const Dsn& dsn, std::string_view name,
                                                       std::int64_t fallback, std::int64_t lowest,
                                                       std::int64_t highest);

/// The same DSN, secrets and all, with this option set to `value` instead of what it had.
[[nodiscard]] ERRAND_EXPORT Dsn with_option(const Dsn& dsn, std::string_view name,
                                            std::string_view value);

/// The DSN of another queue beside the one that a transport's DSN names.
[[nodiscard]] ERRAND_EXPORT Dsn with_queue(const Dsn& dsn, std::string_view queue);

/// yes or no, 1 or 0, true or false.
[[nodiscard]] ERRAND_EXPORT bool switch_option(const Dsn& dsn, std::string_view name,
                                               bool fallback);

}  // namespace errand::detail
