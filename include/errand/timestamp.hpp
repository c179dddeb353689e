#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand {

/// A moment in UTC. Microseconds are what every engine can store and compare.
///
/// As text, the years 1970 to 9999: moments outside are written as the first or the last one
/// inside, so that comparing still works, and are not read.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// `2025-12-01T10:00:00Z`; a fraction (`.250000`) only where it is not zero.
[[nodiscard]] ERRAND_EXPORT std::string to_iso8601(Timestamp time);

/// Reads ISO 8601 with `Z` or a numeric offset and up to nine fraction digits (those past the
/// sixth are dropped). nullopt for anything else, dates that do not exist included.
[[nodiscard]] ERRAND_EXPORT std::optional<Timestamp> parse_iso8601(std::string_view text);

/// `2025-12-01 10:00:00.000000`: what SQL columns hold. Always 26 characters, so that comparing
/// the text compares the time.
[[nodiscard]] ERRAND_EXPORT std::string to_sql_time(Timestamp time);

/// Reads to_sql_time()'s form; the fraction may be shorter or missing, as other writers leave it.
[[nodiscard]] ERRAND_EXPORT std::optional<Timestamp> parse_sql_time(std::string_view text);

}  // namespace errand
