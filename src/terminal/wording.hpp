#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "errand/timestamp.hpp"

/// Numbers and times as people say them.
namespace errand::terminal {

/// `1,234,567`
[[nodiscard]] std::string format_count(std::int64_t count);

/// The two largest units at most: `250 ms`, `3.2 s`, `2 min 5 s`, `3 h 4 min`, `2 d 3 h`.
[[nodiscard]] std::string format_span(std::chrono::milliseconds span);

/// The largest unit alone, for tables: `250 ms`, `3 s`, `2 min`, `3 h`, `2 d`. Never negative: a
/// clock that is a little behind makes no negative age.
[[nodiscard]] std::string format_short_age(Timestamp time, Timestamp now);

/// `3.2 s ago`, `in 5 min`, `now`
[[nodiscard]] std::string format_age(Timestamp time, Timestamp now);

}  // namespace errand::terminal
