#include "http/newest_tasks.hpp"

#include <algorithm>
#include <unordered_set>

namespace errand::http {

std::vector<TaskId> NewestTasks::deleted(std::vector<TaskId> now, bool whole) {
  const std::unordered_set<TaskId> there{now.begin(), now.end()};
  // What stands before a task that is still there was not pushed out by newer ones.
  const auto last = whole ? before_.rbegin()
                          : std::find_if(before_.rbegin(), before_.rend(),
                                         [&](TaskId id) { return there.contains(id); });
  std::vector<TaskId> gone;
  std::copy_if(before_.begin(), last.base(), std::back_inserter(gone),
               [&](TaskId id) { return !there.contains(id); });
  before_ = std::move(now);
  return gone;
}

}  // namespace errand::http
