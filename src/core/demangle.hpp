#pragma once

#include <string>

#include "errand/export.hpp"

namespace errand::detail {

/// A mangled type or function name as a person would write it; other text as it is.
[[nodiscard]] ERRAND_EXPORT std::string demangle(const char* name);

}  // namespace errand::detail
