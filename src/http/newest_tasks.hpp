#pragma once

#include <utility>
#include <vector>

#include "errand/task_id.hpp"

namespace errand::http {

/// Follows the list of the newest tasks, the newest first, which ends somewhere: a task leaves it
/// because newer ones came, or because it was deleted. Not thread-safe.
class NewestTasks {
 public:
  /// The list as it is now; `whole`: it ends because there are no more tasks. Returns those of the
  /// list before that were deleted since.
  [[nodiscard]] std::vector<TaskId> deleted(std::vector<TaskId> now, bool whole);

  /// There is no list before.
  void forget() { before_.clear(); }

 private:
  std::vector<TaskId> before_;
};

}  // namespace errand::http
