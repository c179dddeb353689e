#include "app/operator_json.hpp"

#include <string>
#include <utility>

namespace errand::detail {

boost::json::object to_json(const StatusCounts& counts) {
  boost::json::object json;
  for (const TaskStatus status : kAllTaskStatuses) {
    json[std::string{to_string(status)}] = counts.at(static_cast<std::size_t>(status));
  }
  return json;
}

boost::json::array to_json(const std::vector<QueueStats>& queues) {
  boost::json::array json;
  for (const QueueStats& queue : queues) {
    boost::json::object item{{"queue", queue.queue},     {"paused", queue.paused},
                             {"due", queue.due},         {"delayed", queue.delayed},
                             {"running", queue.running}, {"oldestDueMs", nullptr}};
    if (queue.oldest_due) item["oldestDueMs"] = queue.oldest_due->count();
    json.push_back(std::move(item));
  }
  return json;
}

boost::json::object to_json(const WorkerInfo& worker) {
  return {{"worker", worker.worker},
          {"host", worker.host},
          {"pid", worker.pid},
          {"queues", boost::json::array(worker.queues.begin(), worker.queues.end())},
          {"concurrency", worker.concurrency},
          {"running", worker.running},
          {"handled", worker.handled},
          {"failed", worker.failed},
          {"startedAt", to_iso8601(worker.started_at)},
          {"seenAt", to_iso8601(worker.seen_at)}};
}

boost::json::array to_json(const std::vector<WorkerInfo>& workers) {
  boost::json::array json;
  for (const WorkerInfo& worker : workers) json.push_back(to_json(worker));
  return json;
}

}  // namespace errand::detail
