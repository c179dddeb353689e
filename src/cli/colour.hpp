#pragma once

#include "errand/task_status.hpp"

#include "terminal/paint.hpp"

namespace errand::cli {

using terminal::Colour;
using terminal::paint;

[[nodiscard]] Colour colour_of(TaskStatus status) noexcept;

}  // namespace errand::cli
