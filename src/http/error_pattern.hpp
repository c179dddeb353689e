#pragma once

#include <string>
#include <string_view>

namespace errand::http {

/// The message with `#` in place of every word that has a digit, every path and every word too long
/// for a language: `order 17 of a3f0 is gone` and
/// `order 18 of b4c1 is gone` are one kind of failure.
[[nodiscard]] std::string error_pattern(std::string_view message);

}  // namespace errand::http
