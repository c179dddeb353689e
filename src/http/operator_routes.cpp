#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "app/operator_json.hpp"
#include "http/embedded_files.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "terminal/version.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostRunning = 1000;
constexpr std::size_t kMostOfOneWorker = 100;

/// Queues are labels of gauges, and clients name them: past so many, those with the fewest open
/// tasks count as queue `other`.
Observation with_few_queues(Observation seen) {
  std::vector<QueueStats>& queues = seen.stats.queues;
  if (queues.size() <= Metrics::kMostKinds) return seen;
  std::ranges::stable_sort(queues, std::greater{}, [](const QueueStats& queue) {
    return queue.due + queue.delayed + queue.running;
  });
  QueueStats other{.queue = "other"};
  for (const QueueStats& queue : std::span{queues}.subspan(Metrics::kMostKinds)) {
    other.due += queue.due;
    other.delayed += queue.delayed;
    other.running += queue.running;
    if (queue.oldest_due) {
      other.oldest_due = std::max(queue.oldest_due, other.oldest_due);
    }
  }
  queues.resize(Metrics::kMostKinds);
  queues.push_back(std::move(other));
  return seen;
}

}  // namespace

Response get_session(const Call& call) {
  const Query none{call.request.target, {}};
  const Service& service = call.service;
  json::object session{{"role", to_string(call.request.role)},
                       {"tokenRequired", service.access.has_tokens()},
                       {"serverTime", to_iso8601(system_clock().now())}};
  if (call.request.role != Role::none) {
    const auto ttl = std::chrono::duration_cast<std::chrono::seconds>(service.engine.ttl());
    session["version"] = terminal::kVersion;
    session["engine"] = to_string(service.engine.kind());
    session["types"] = json::array(service.worker_types.begin(), service.worker_types.end());
    session["ttlSeconds"] = ttl.count();
  }
  return Response::json(json::serialize(session));
}

Response list_workers(const Call& call) {
  const Query none{call.request.target, {}};
  Engine& engine = call.service.engine;
  const std::vector<WorkerInfo> workers = engine.workers().workers();
  const TaskPage running = engine.catalog().list(
      {{TaskStatus::running}, {}, {}},
      {.page = 1, .page_size = kMostRunning, .documents = false, .count = false});
  std::map<std::string, std::vector<const TaskRecord*>, std::less<>> tasks;
  for (const TaskRecord& task : running.items) {
    if (task.worker) tasks[*task.worker].push_back(&task);
  }
  bool more = running.next.has_value();
  std::string text = R"({"items":[)";
  for (const WorkerInfo& worker : workers) {
    if (text.back() != '[') text += ',';
    std::string item = json::serialize(detail::to_json(worker));
    item.back() = ',';
    item += R"("tasks":[)";
    std::size_t count = 0;
    for (const TaskRecord* task : tasks[worker.worker]) {
      if (count++ == kMostOfOneWorker) {
        more = true;
        break;
      }
      if (item.back() != '[') item += ',';
      item += errand::to_json(*task);
    }
    text += item + "]}";
  }
  return Response::json(text + (more ? R"(],"more":true})" : R"(],"more":false})"));
}

Response get_stats(const Call& call) {
  const Query none{call.request.target, {}};
  Engine& engine = call.service.engine;
  const TaskStats stats = engine.catalog().stats();
  return Response::json(
      json::serialize(json::object{{"tasks", detail::to_json(stats.tasks)},
                                   {"queues", detail::to_json(stats.queues)},
                                   {"workers", detail::to_json(engine.workers().workers())}}));
}

Response get_history(const Call& call) {
  const Query query{call.request.target, {"step", "last"}};
  const std::chrono::seconds step{
      query.integer("step", 0, History::kCoarseStep.count(), History::kFineStep.count())};
  if (step != History::kFineStep && step != History::kCoarseStep) {
    throw Problem{400, "'step' must be 5, for the last hour, or 60, for the last day"}.of_parameter(
        "step");
  }
  constexpr std::int64_t kMost = History::kMostSamples;
  const std::int64_t last = query.integer("last", 1, std::int64_t{1} << 32U, kMost);
  return Response::json(
      call.service.history.json(step, static_cast<std::size_t>(std::min(last, kMost))));
}

Response get_metrics(const Call& call) {
  const Query none{call.request.target, {}};
  std::optional<Observation> shown;
  if (const auto seen = call.service.last_observation()) shown = with_few_queues(*seen);
  Response response = Response::json(call.service.metrics.text(shown ? &*shown : nullptr));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Response get_health(const Call&) { return Response::json(R"({"status":"ok"})"); }

Response get_openapi(const Call&) {
  Response response;
  response.embedded = find_embedded("openapi.json")->bytes;
  return response;
}

}  // namespace errand::http
