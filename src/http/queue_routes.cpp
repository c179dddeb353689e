#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <span>
#include <vector>

#include "app/found_tasks.hpp"
#include "app/operator_json.hpp"
#include "app/switched_queue.hpp"
#include "http/handlers.hpp"
#include "http/query.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

const std::string& queue_of(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  return call.parts.front();
}

detail::SwitchedQueue look_at(const Call& call) {
  return detail::look_at_queues({queue_of(call)}, call.service.engine).front();
}

}  // namespace

Response list_queues(const Call& call) {
  const Query none{call.request.target, {}};
  Engine& engine = call.service.engine;
  std::vector<QueueStats> queues = engine.catalog().stats().queues;
  const std::vector<WorkerInfo> workers = engine.workers().workers();
  // One that a worker serves is there, although nothing waits in it just now.
  for (const WorkerInfo& worker : workers) {
    for (const std::string& name : worker.queues) {
      if (std::ranges::find(queues, name, &QueueStats::queue) == queues.end()) {
        queues.push_back({.queue = name});
      }
    }
  }
  std::ranges::sort(queues, {}, &QueueStats::queue);
  json::array items = detail::to_json(queues);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    items[i].as_object()["workers"] = detail::count_serving(workers, queues[i].queue);
  }
  return Response::json(json::serialize(json::object{{"items", std::move(items)}}));
}

Response pause_queue(const Call& call) {
  const detail::SwitchedQueue before = look_at(call);
  call.service.engine.queue().pause({&before.name, 1});
  return Response::json(json::serialize(detail::to_json(before, true)));
}

Response resume_queue(const Call& call) {
  const detail::SwitchedQueue before = look_at(call);
  call.service.engine.queue().resume({&before.name, 1});
  return Response::json(json::serialize(detail::to_json(before, false)));
}

Response purge_queue(const Call& call) {
  const std::string& queue = queue_of(call);
  Engine& engine = call.service.engine;
  const std::int64_t workers = detail::count_serving(engine.workers().workers(), queue);
  std::size_t purged = 0;
  detail::ChangeOfFound change;
  change.apply = [&](std::span<const TaskId> ids) {
    // Those that a worker took meanwhile are asked to stop at the most, and stay.
    const std::vector<CancelStatus> statuses = engine.queue().cancel(ids);
    std::vector<TaskId> cancelled;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (statuses[i] == CancelStatus::cancelled) cancelled.push_back(ids[i]);
    }
    purged += engine.queue().discard(cancelled);
  };
  const TaskFilter waiting{{TaskStatus::pending, TaskStatus::retrying}, {}, queue};
  detail::change_found(engine.catalog(), waiting, change);
  return Response::json(
      json::serialize(json::object{{"queue", queue}, {"purged", purged}, {"workers", workers}}));
}

}  // namespace errand::http
