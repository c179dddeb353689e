#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace errand::distributors {

/// The one of `names` that `typed` is a slip of the pen away from, if there is one.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view typed, const std::vector<std::string_view>& names);

}  // namespace errand::distributors
