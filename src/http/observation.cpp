#include "http/observation.hpp"

#include <algorithm>

namespace errand::http {

Observation Observer::look() {
  Observation seen;
  seen.at = engine_.now();
  // Counting all tasks takes longest: it comes right after what it is compared with.
  const std::optional<detail::EndedCounter::News> news = counter_.look(seen.at);
  seen.stats = engine_.catalog().stats();
  seen.workers = engine_.workers().workers();
  if (!news) return seen;
  seen.ended = news->tasks;
  for (const TaskRecord& task : news->latest) {
    const auto& [started, completed] = std::pair{task.data.started_at, task.data.completed_at};
    if (!started || !completed || task.data.status == TaskStatus::cancelled) continue;
    const Timestamp due =
        std::max(task.data.submitted_at, task.available_at.value_or(task.data.submitted_at));
    seen.timings.push_back({.wait = std::max(*started - due, std::chrono::microseconds{0}),
                            .duration = *completed - *started});
  }
  return seen;
}

}  // namespace errand::http
