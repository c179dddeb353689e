#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace errand::invoices {

/// A day as "2025-02-08", from "20250208", "2025-02-08", "2025/2/8", "2025年02月08日", blanks
/// anywhere, a time of day behind it. nullopt: no day of the calendar, or not between 1994 (the
/// first year of this tax) and 2099.
[[nodiscard]] std::optional<std::string> parse_calendar_date(std::string_view text);

}  // namespace errand::invoices
