#pragma once

#include <string>

#include "errand/progress.hpp"

namespace errand::terminal {

/// `█████████░░░░░░░░░░░ 45 % · 9 of 20 · reading`, or without a bar where the total is unknown.
/// Printable.
[[nodiscard]] std::string format_progress(const Progress& progress);

}  // namespace errand::terminal
