#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand::detail {

/// The offset of the first byte that is not part of well-formed UTF-8 (Unicode, table 3-7);
/// npos: there is none.
[[nodiscard]] ERRAND_EXPORT std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// The text with every byte that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] ERRAND_EXPORT std::string repair_utf8(std::string_view text);

/// As repair_utf8(), and not longer than `max_bytes`: what is cut ends in "…", and no character is
/// cut in half.
[[nodiscard]] ERRAND_EXPORT std::string repair_and_cut_utf8(std::string_view text,
                                                            std::size_t max_bytes);

/// Whether valid UTF-8 has a control character: C0, DEL or C1.
[[nodiscard]] ERRAND_EXPORT bool has_control_character(std::string_view text) noexcept;

}  // namespace errand::detail
