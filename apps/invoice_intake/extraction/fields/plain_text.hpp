#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::invoices {

/// One form for what documents spell in many: NFKC (full-width to plain, Kangxi radicals to the
/// characters they stand for), the radicals NFKC leaves alone, no control or zero-width characters,
/// white space as single blanks, none at the ends. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string plain_text(std::string_view text);

/// The characters as they are, but for what cannot be seen or is not UTF-8, and white space: as
/// plain_text() does with those. For names, which must stay recognisable.
[[nodiscard]] std::string visible_text(std::string_view text);

/// plain_text() without any blank.
[[nodiscard]] std::string without_blanks(std::string_view text);

/// The characters of valid UTF-8, one view each.
[[nodiscard]] std::vector<std::string_view> characters_of(std::string_view text);

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Not empty, and nothing but the digits 0 to 9.
[[nodiscard]] bool is_all_digits(std::string_view text) noexcept;

}  // namespace errand::invoices
