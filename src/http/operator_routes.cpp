#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>

#include "app/operator_json.hpp"
#include "http/embedded_files.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "http/version.hpp"

namespace errand::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostRunning = 1000;
constexpr std::size_t kMostOfOneWorker = 100;

}  // namespace

Response get_session(const Call& call) {
  const Query none{call.request.target, {}};
  const Service& service = call.service;
  const auto ttl = std::chrono::duration_cast<std::chrono::seconds>(service.engine.ttl());
  return Response::json(json::serialize(
      json::object{{"role", to_string(call.request.role)},
                   {"tokenRequired", service.access.has_tokens()},
                   {"version", kVersion},
                   {"engine", to_string(service.engine.kind())},
                   {"types", json::array(service.worker_types.begin(), service.worker_types.end())},
                   {"ttlSeconds", ttl.count()},
                   {"serverTime", to_iso8601(system_clock().now())}}));
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
  std::string text = R"({"items":[)";
  for (const WorkerInfo& worker : workers) {
    if (text.back() != '[') text += ',';
    std::string item = json::serialize(detail::to_json(worker));
    item.back() = ',';
    item += R"("tasks":[)";
    std::size_t count = 0;
    for (const TaskRecord* task : tasks[worker.worker]) {
      if (count++ == kMostOfOneWorker) break;
      if (item.back() != '[') item += ',';
      item += errand::to_json(*task);
    }
    text += item + "]}";
  }
  return Response::json(text + "]}");
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
  const auto last = static_cast<std::size_t>(
      query.integer("last", 1, History::kMostSamples, History::kMostSamples));
  return Response::json(call.service.history.json(step, last));
}

Response get_metrics(const Call& call) {
  const Query none{call.request.target, {}};
  const std::shared_ptr<const Observation> seen = call.service.last_observation();
  Response response = Response::json(call.service.metrics.text(seen.get()));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Response get_health(const Call&) { return Response::json(R"({"status":"ok"})"); }

Response get_readiness(const Call& call) {
  // The newest task is as good a question as any, and costs nothing.
  static_cast<void>(call.service.engine.catalog().list(
      {}, {.page = 1, .page_size = 1, .documents = false, .count = false}));
  return Response::json(R"({"status":"ready"})");
}

Response get_openapi(const Call&) {
  Response response;
  response.embedded = find_embedded("openapi.json")->bytes;
  return response;
}

}  // namespace errand::http
