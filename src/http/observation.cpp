#include "http/observation.hpp"

#include <algorithm>

namespace errand::http {

Observation observe(Engine& engine, std::optional<Timestamp> since) {
  Observation seen;
  seen.at = engine.now();
  seen.stats = engine.catalog().stats();
  seen.workers = engine.workers().workers();
  if (!since) return seen;
  const TaskFilter ended{{TaskStatus::completed, TaskStatus::failed}, {}, {}};
  const PageRequest newest{.page = 1, .page_size = 200, .documents = false, .count = false};
  for (const TaskRecord& task : engine.catalog().list(ended, newest).items) {
    const auto& [started, completed] = std::pair{task.data.started_at, task.data.completed_at};
    if (!started || !completed || *completed <= *since) continue;
    const Timestamp due =
        std::max(task.data.submitted_at, task.available_at.value_or(task.data.submitted_at));
    seen.ended.push_back({.wait = std::max(*started - due, std::chrono::microseconds{0}),
                          .duration = *completed - *started});
  }
  return seen;
}

}  // namespace errand::http
