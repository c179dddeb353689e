#include "app/switched_queue.hpp"

#include <algorithm>

namespace errand::detail {

std::int64_t count_serving(const std::vector<WorkerInfo>& workers, const std::string& queue) {
  return std::ranges::count_if(workers, [&](const WorkerInfo& worker) {
    return std::ranges::find(worker.queues, queue) != worker.queues.end();
  });
}

std::vector<SwitchedQueue> look_at_queues(const std::vector<std::string>& names, Engine& engine) {
  const std::vector<QueueStats> stats = engine.catalog().stats().queues;
  const std::vector<WorkerInfo> workers = engine.workers().workers();
  std::vector<SwitchedQueue> queues;
  for (const std::string& name : names) {
    TaskFilter filter;
    filter.queue = name;
    const auto known = std::ranges::find(stats, name, &QueueStats::queue);
    queues.push_back(
        {.name = name,
         .was_paused = known != stats.end() && known->paused,
         .tasks =
             engine.catalog().list(filter, {.page = 1, .page_size = 1, .documents = false}).total,
         .workers = count_serving(workers, name)});
  }
  return queues;
}

boost::json::object to_json(const SwitchedQueue& queue, bool paused) {
  return {{"queue", queue.name},
          {"paused", paused},
          {"wasPaused", queue.was_paused},
          {"tasks", queue.tasks},
          {"workers", queue.workers}};
}

}  // namespace errand::detail
