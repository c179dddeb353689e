#pragma once

#include <cstddef>

namespace errand::detail {

/// Messages and traces above this size are cut: they end up in a row, a log and a screen.
inline constexpr std::size_t kMaxExceptionText = std::size_t{64} * 1024;

}  // namespace errand::detail
