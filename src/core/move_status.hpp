#pragma once

#include <cstdint>
#include <optional>

#include "errand/export.hpp"
#include "errand/task.hpp"

namespace errand::detail {

/// What TaskStorage::update_status() makes of a stored record. Throws as it does.
ERRAND_EXPORT void move_status(TaskData& task, TaskStatus status,
                               std::optional<std::int64_t> expected_version, Timestamp now);

/// `task` was loaded and is saved again; the storage has another version, or none.
[[noreturn]] ERRAND_EXPORT void refuse_stale(const TaskData& task,
                                             std::optional<std::int64_t> stored_version);

}  // namespace errand::detail
