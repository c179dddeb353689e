#pragma once

#include <cstddef>
#include <string_view>

#include "errand/export.hpp"

namespace errand::detail {

/// Throws ValidationException, beginning with `name`, unless `text` is UTF-8 without NUL and of at
/// most `max_bytes`.
ERRAND_EXPORT void check_document(std::string_view name, std::string_view text,
                                  std::size_t max_bytes);

/// Throws ValidationException, beginning with `name`, unless `text` can name a type or a queue: 1
/// to 190 bytes of UTF-8 without control characters.
ERRAND_EXPORT void check_label(std::string_view name, std::string_view text);

}  // namespace errand::detail
