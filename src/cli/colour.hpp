#pragma once

#include "errand/task_status.hpp"

#include "terminal/paint.hpp"

namespace errand::cli {

[[nodiscard]] terminal::Colour colour_of(TaskStatus status) noexcept;

}  // namespace errand::cli
