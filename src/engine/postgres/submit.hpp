#pragma once

#include <span>
#include <vector>

#include "errand/task_queue.hpp"

#include "engine/postgres/connection.hpp"

namespace errand::postgres {

/// The queries that store the tasks; few, and for one transaction. They must be valid. Known ids
/// are left alone.
[[nodiscard]] std::vector<Query> submit_queries(std::span<const NewTask> tasks);

/// The same, faster for tasks that are alike. A known id may be an error: UniqueViolation.
[[nodiscard]] std::vector<Query> submit_new_queries(std::span<const NewTask> tasks);

/// The same for TaskQueue::adopt().
[[nodiscard]] std::vector<Query> adopt_queries(std::span<const NewTask> tasks);

}  // namespace errand::postgres
