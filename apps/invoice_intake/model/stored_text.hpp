#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace errand::invoices {

/// Text from outside as every database takes it: UTF-8 (what is not becomes U+FFFD), control
/// characters as spaces, cut to `longest` characters.
[[nodiscard]] std::string stored_text(std::string_view text, std::size_t longest);

/// The same for text of several lines: line feeds and tabs stay.
[[nodiscard]] std::string stored_lines(std::string_view text, std::size_t longest);

}  // namespace errand::invoices
