#pragma once

#include "errand/task.hpp"

#include "core/json_text.hpp"

namespace errand::detail {

/// The members of to_json(TaskData), without the braces.
void add_task_members(JsonObjectText& object, const TaskData& task);

}  // namespace errand::detail
