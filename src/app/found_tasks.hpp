#pragma once

#include <functional>
#include <span>

#include "errand/task_catalog.hpp"
#include "errand/task_id.hpp"

/// Going through all tasks that a filter finds, however many.
namespace errand::detail {

/// The newest first.
void for_each_found(TaskCatalog& catalog, const TaskFilter& filter,
                    const std::function<void(TaskRecord&)>& look);

struct ChangeOfFound {
  /// Which of the found ones; all if empty. It sees the errors, and no other documents.
  std::function<bool(const TaskRecord&)> only{};
  std::function<void(std::span<const TaskId>)> apply;  ///< to at most 1,000
};

/// Each task once, even if it comes back while this goes on: what was changed is not found any
/// more, or not in its old place.
void change_found(TaskCatalog& catalog, const TaskFilter& filter, const ChangeOfFound& change);

}  // namespace errand::detail
