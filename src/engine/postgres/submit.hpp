#pragma once

#include <span>

#include "errand/task_queue.hpp"

#include "engine/postgres/connection.hpp"

namespace errand::postgres {

/// The query that stores the tasks. They must be valid.
[[nodiscard]] Query submit_query(std::span<const NewTask> tasks);

}  // namespace errand::postgres
