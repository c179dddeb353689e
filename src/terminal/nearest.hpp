#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace errand::terminal {

/// The word somebody probably meant by `typed`: the one that the fewest slips of the finger (a
/// letter too many, missing, wrong, or swapped with its neighbour) lead to. nullopt if none is
/// near.
[[nodiscard]] std::optional<std::string> nearest(std::string_view typed,
                                                 std::span<const std::string> words);

}  // namespace errand::terminal
