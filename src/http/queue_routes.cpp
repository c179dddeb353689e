#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <span>
#include <vector>

#include "app/found_tasks.hpp"
#include "app/operator_json.hpp"
#include "http/handlers.hpp"
#include "http/query.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

Response switched(const std::string& queue, bool paused) {
  return Response::json(json::serialize(json::object{{"queue", queue}, {"paused", paused}}));
}

const std::string& queue_of(const Call& call) {
  const Query none{call.request.target, {}};
  call.refuse_body();
  return call.parts.front();
}

}  // namespace

Response list_queues(const Call& call) {
  const Query none{call.request.target, {}};
  const std::vector<QueueStats> queues = call.service.engine.catalog().stats().queues;
  return Response::json(json::serialize(json::object{{"items", detail::to_json(queues)}}));
}

Response pause_queue(const Call& call) {
  const std::string& queue = queue_of(call);
  call.service.engine.queue().pause({&queue, 1});
  return switched(queue, true);
}

Response resume_queue(const Call& call) {
  const std::string& queue = queue_of(call);
  call.service.engine.queue().resume({&queue, 1});
  return switched(queue, false);
}

Response purge_queue(const Call& call) {
  const std::string& queue = queue_of(call);
  Engine& engine = call.service.engine;
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
  return Response::json(json::serialize(json::object{{"queue", queue}, {"purged", purged}}));
}

}  // namespace errand::http
