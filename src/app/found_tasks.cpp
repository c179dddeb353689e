#include "app/found_tasks.hpp"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace errand::detail {
namespace {

constexpr std::int64_t kBatch = 1000;
constexpr std::int64_t kBatchWithErrors = 200;  ///< errors have traces

}  // namespace

void for_each_found(TaskCatalog& catalog, const TaskFilter& filter,
                    const std::function<void(TaskRecord&)>& look) {
  PageRequest request{.page = 1, .page_size = kBatch, .count = false};
  do {
    TaskPage page = catalog.list(filter, request);
    for (TaskRecord& task : page.items) look(task);
    request.after = page.next;
  } while (request.after);
}

void change_found(TaskCatalog& catalog, const TaskFilter& filter, const ChangeOfFound& change) {
  PageRequest request{.page = 1,
                      .page_size = change.only ? kBatchWithErrors : kBatch,
                      .documents = false,
                      .errors = static_cast<bool>(change.only),
                      .count = false};
  std::unordered_set<TaskId> seen;
  while (true) {
    const TaskPage page = catalog.list(filter, request);
    if (page.items.empty()) return;
    std::vector<TaskId> ids;
    for (const TaskRecord& task : page.items) {
      if (!seen.insert(task.data.id).second) continue;
      if (!change.only || change.only(task)) ids.push_back(task.data.id);
    }
    // What was changed has left the page to those behind it: look at the same one again.
    if (ids.empty()) {
      ++request.page;
    } else {
      change.apply(ids);
    }
  }
}

}  // namespace errand::detail
