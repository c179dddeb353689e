#include "http/front.hpp"

#include <boost/beast/http/field.hpp>
#include <charconv>
#include <fmt/format.h>

#include "errand/errors.hpp"
#include "errand/future.hpp"

#include "core/json_text.hpp"
#include "core/utf8.hpp"
#include "http/dashboard.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "http/submit_many.hpp"
#include "http/task_view.hpp"

namespace errand::http {
namespace {

constexpr std::chrono::seconds kLongestWait{60};
constexpr std::size_t kMostWatched = 20;
constexpr std::size_t kLargeBody = std::size_t{32} << 10;  ///< too much to parse in the loop

/// Opens what TaskFuture waits with.
class Watched : public TaskHandle {
 public:
  using TaskHandle::forget;
  using TaskHandle::JsonCallback;
  using TaskHandle::TaskHandle;
  using TaskHandle::Ticket;
  using TaskHandle::when_final;
};

Response outcome_response(const Finish& finish) {
  if (finish.kind == Finish::Kind::unknown) throw TaskNotFoundException{finish.id};
  if (finish.kind == Finish::Kind::expired) throw TaskExpiredException{finish.id};
  std::string text;
  detail::JsonObjectText json{text};
  json.add_string("taskId", finish.id.to_string());
  json.add_string("status", to_string(finish.status));
  if (finish.result) json.add_string("result", *finish.result);
  if (finish.error) json.add_string("error", *finish.error);
  json.close();
  return Response::json(std::move(text));
}

Response unfinished_response(TaskCatalog& catalog, TaskId id) {
  const TaskStatus status = find_task(catalog, id).data.status;
  return Response::json(
      fmt::format(R"({{"taskId":"{}","status":"{}"}})", id.to_string(), to_string(status)), 202);
}

Response created_response(const NewTask& task) {
  Response response = Response::json(
      submitted_json(task.id, task.envelope.type(), task.queue, TaskStatus::pending), 201);
  response.headers.emplace_back("Location", "/api/tasks/" + task.id.to_string());
  return response;
}

void refuse_large_body(const MessageHeader& header, std::size_t most) {
  const auto length = header[boost::beast::http::field::content_length];
  std::uint64_t bytes = 0;
  const auto read = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (!length.empty() && (read.ec != std::errc{} || bytes > most)) {
    throw Problem{413, fmt::format("the body is larger than the {} bytes this server takes", most)};
  }
}

}  // namespace

void Front::judge(const MessageHeader& header, Request& request, Served& served) const {
  request = request_of(header);
  served.match = match(request.method, request.target);
  if (!service_.access.has_tokens()) require_loopback_host(request.headers);
  request.role = service_.access.role_of(request.headers);
  if (served.match.route != nullptr) Access::require(request.role, served.match.route->role);
  refuse_cross_site(request.method, request.headers);
  refuse_large_body(header, options.limits.body_bytes);
}

Awaitable<Response> Front::serve(Served& served, const Request& request) {
  const Route* route = served.match.route;
  if (route == nullptr) co_return dashboard_file(request);
  const Call call{service_, request, served.match.parts};
  if (const auto* immediate = std::get_if<Immediate>(&route->action)) {
    co_return immediate->serve(call);
  }
  if (const auto* blocking = std::get_if<Blocking>(&route->action)) {
    co_return co_await pools_.storage.call([&] { return (*blocking)(call); });
  }
  if (const auto* lengthy = std::get_if<Lengthy>(&route->action)) {
    co_return co_await pools_.lengthy.call([&] { return lengthy->serve(call); });
  }
  if (const auto* aside = std::get_if<Aside>(&route->action)) {
    co_return co_await pools_.aside.call([&] { return aside->serve(call); });
  }
  switch (std::get<Waiting>(route->action)) {
    case Waiting::submit:
      co_return co_await submit(request);
    case Waiting::result:
      co_return co_await wait_for_result(call, served);
    case Waiting::readiness:
      co_return co_await tell_readiness(request);
    case Waiting::events:
      break;
  }
  served.stream = interest_of(request);
  co_return Response{};
}

Awaitable<Response> Front::tell_readiness(const Request& request) {
  const Query none{request.target, {}};
  if (!co_await readiness_.is_ready()) {
    throw Problem{503, "the storage does not answer"}.with_header("Retry-After", "2");
  }
  co_return Response::json(R"({"status":"ready"})");
}

Awaitable<Response> Front::submit(const Request& request) {
  const Query none{request.target, {}};
  const std::string type = media_type(request.headers.content_type);
  if (type == "application/x-ndjson") {
    co_return co_await pools_.storage.call([&] { return submit_many(service_.engine, request); });
  }
  if (type != "application/json") {
    throw Problem{415, "send application/json for one task, application/x-ndjson for many"}
        .with_header("Accept-Post", "application/json, application/x-ndjson");
  }
  // Apart from the call that waits: GCC 12 destroys an aggregate in one expression with co_await
  // twice.
  std::optional<RequestedTask> parsed;
  if (request.body.size() < kLargeBody) {
    parsed = requested_task(request);
  } else {
    co_await pools_.storage.call([&] {
      parsed = requested_task(request);
      return true;
    });
  }
  Response response = created_response(parsed->task);
  const TaskId id = parsed->task.id;
  const std::string task_type = parsed->task.envelope.type();
  const std::optional<Submission::Before> before = co_await submits_.submit(*std::move(parsed));
  if (before) {
    response = Response::json(submitted_json(id, task_type, before->queue, before->status));
  }
  co_return response;
}

Awaitable<Response> Front::wait_for_result(const Call& call, Served& served) {
  const Query query{call.request.target, {"wait"}};
  const std::chrono::milliseconds most = query.duration("wait", kLongestWait);
  const TaskId id = call.task_id();
  TaskQueue& queue = service_.engine.queue();
  const auto look = [&queue, id] { return queue.finished({&id, 1}); };
  std::vector<Finish> finishes = co_await pools_.storage.call(look);
  if (finishes.empty() && most.count() > 0 && !stopping) {
    co_await wait_until_final(id, most, served);
    finishes = co_await pools_.storage.call(look);
  }
  if (!finishes.empty()) co_return outcome_response(finishes.front());
  TaskCatalog& catalog = service_.engine.catalog();
  co_return co_await pools_.storage.call(
      [&catalog, id] { return unfinished_response(catalog, id); });
}

Awaitable<> Front::wait_until_final(TaskId id, std::chrono::milliseconds most, Served& served) {
  // Shared: the callback may still be on its way when the time is over.
  const auto timer = std::make_shared<Timer>(loop, most);
  const Watched watched{tasks_, id};
  const Watched::Ticket ticket =
      watched.when_final([timer, owner = loop_owner_](const std::exception_ptr&, std::string) {
        asio::post(*owner, [timer] { timer->cancel(); });
      });
  waits_.insert(timer.get());
  served.wait = timer;
  service_.metrics.add(Metrics::Gauge::long_polls, 1);
  co_await timer->async_wait(kAwaitResult);
  service_.metrics.add(Metrics::Gauge::long_polls, -1);
  waits_.erase(timer.get());
  served.wait.reset();
  watched.forget(ticket);
}

ChangeFeed::Interest Front::interest_of(const Request& request) {
  const Query query{request.target, {"topics", "task"}};
  ChangeFeed::Interest interest;
  for (const std::string& topic : query.list("topics")) {
    if (topic != "stats" && topic != "tasks") {
      throw Problem{400, fmt::format("there is no topic '{}'; there are stats and tasks",
                                     detail::repair_and_cut_utf8(topic, 64))}
          .of_parameter("topics");
    }
    (topic == "stats" ? interest.stats : interest.tasks) = true;
  }
  if (!interest.stats && !interest.tasks) interest.stats = interest.tasks = true;
  for (const std::string& text : query.list("task")) {
    const std::optional<TaskId> id = TaskId::parse(text);
    if (!id || interest.only.size() == kMostWatched) {
      throw Problem{400, "'task' takes up to 20 ids, UUIDs of version 4, separated by commas"}
          .of_parameter("task");
    }
    interest.only.push_back(*id);
  }
  return interest;
}

Response Front::explain(const std::exception_ptr& error) const {
  Response response = problem_response(error);
  if (response.status == 500) {
    const ExceptionData data = describe_exception(error);
    logger.error(fmt::format("a request failed: {}: {}", data.class_name, data.message));
  }
  return response;
}

void Front::record(const Request& request, const Served& served,
                   std::chrono::steady_clock::duration took) const {
  const Route* route = served.match.route;
  const std::string_view name = route != nullptr ? route->path : "other";
  const unsigned status = served.response.status;
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(took);
  service_.metrics.observe_request(to_string(request.method), name, status, duration);
  if (logger.enabled(Logger::Level::debug)) {
    logger.debug(
        fmt::format("{} {} {} {} µs", to_string(request.method), name, status, duration.count()));
  }
}

void Front::stop() {
  stopping = true;
  for (Timer* timer : waits_) timer->cancel();
  hub.wake_all();
  for (const HangUp& hang_up : connections_) hang_up(When::if_idle);
}

void Front::cut_off() {
  for (const HangUp& hang_up : connections_) hang_up(When::now);
}

}  // namespace errand::http
