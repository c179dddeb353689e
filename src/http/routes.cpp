#include "http/routes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/utf8.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

using enum Method;

/// Those with a fixed word come before those with a {name} in its place: the first match counts.
constexpr std::array kRoutes{
    Route{get, "/api/session", Role::none, Immediate{get_session}},
    Route{get, "/api/tasks", Role::reader, list_tasks},
    Route{post, "/api/tasks", Role::operator_, Waiting::submit},
    Route{get, "/api/tasks/{taskId}", Role::reader, get_task},
    Route{delete_, "/api/tasks/{taskId}", Role::operator_, delete_task},
    Route{get, "/api/tasks/{taskId}/result", Role::reader, Waiting::result},
    Route{post, "/api/tasks/{taskId}/cancel", Role::operator_, cancel_task},
    Route{post, "/api/tasks/{taskId}/retry", Role::operator_, retry_task},
    Route{get, "/api/queues", Role::reader, list_queues},
    Route{post, "/api/queues/{queue}/pause", Role::operator_, pause_queue},
    Route{post, "/api/queues/{queue}/resume", Role::operator_, resume_queue},
    Route{post, "/api/queues/{queue}/purge", Role::operator_, Lengthy{purge_queue}},
    Route{get, "/api/workers", Role::reader, list_workers},
    Route{get, "/api/failed", Role::reader, list_failed},
    Route{get, "/api/failed/transports", Role::reader, list_failure_transports},
    Route{get, "/api/failed/groups", Role::reader, Lengthy{group_failed}},
    Route{post, "/api/failed/retry", Role::operator_, Lengthy{retry_failed}},
    Route{post, "/api/failed/remove", Role::operator_, Lengthy{remove_failed}},
    Route{get, "/api/failed/{id}", Role::reader, get_failed},
    Route{delete_, "/api/failed/{id}", Role::operator_, delete_failed},
    Route{post, "/api/failed/{id}/retry", Role::operator_, retry_one_failed},
    Route{get, "/api/stats", Role::reader, get_stats},
    Route{get, "/api/stats/history", Role::reader, Aside{get_history}},
    Route{get, "/api/events", Role::reader, Waiting::events},
    Route{get, "/metrics", Role::reader, Aside{get_metrics}},
    Route{get, "/healthz", Role::none, Immediate{get_health}},
    Route{get, "/readyz", Role::none, Waiting::readiness},
    Route{get, "/openapi.json", Role::none, Immediate{get_openapi}},
};

constexpr std::size_t kShown = 64;

/// Whether the segments fit the path, and the values of its names.
bool fits(std::string_view path, const std::vector<std::string>& segments,
          std::vector<std::string>& parts) {
  parts.clear();
  path.remove_prefix(1);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view word = path.substr(0, end);
    const bool is_last_word = end == path.size();
    if (is_last_word != (i + 1 == segments.size())) return false;
    if (word.starts_with('{')) {
      if (segments[i].empty()) return false;
      parts.push_back(segments[i]);
    } else if (word != segments[i]) {
      return false;
    }
    if (!is_last_word) path.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Match match(Method method, const Target& target) {
  const Method served = method == Method::head ? Method::get : method;
  Match match;
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!fits(route.path, target.segments, match.parts)) continue;
    if (route.method == served) {
      match.route = &route;
      return match;
    }
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", to_string(route.method));
    if (route.method == Method::get) allowed += ", HEAD";
  }
  match.parts.clear();
  if (!allowed.empty()) {
    throw Problem{405, fmt::format("this address takes {}", allowed)}.with_header("Allow", allowed);
  }
  if (target.segments.front() == "api") {
    throw Problem{404, "there is no such address; /openapi.json lists all there are"};
  }
  if (served != Method::get) {
    throw Problem{405, "this address takes GET, HEAD"}.with_header("Allow", "GET, HEAD");
  }
  return match;
}

TaskId Call::task_id() const {
  if (const std::optional<TaskId> id = TaskId::parse(parts.front())) return *id;
  throw Problem{404, fmt::format("'{}' names no task: an id is a UUID of version 4",
                                 detail::repair_and_cut_utf8(parts.front(), kShown))}
      .named("task-not-found");
}

void Call::refuse_body() const {
  std::string_view body = request.body;
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(body.find_first_not_of(kSpace), body.size());
  body = body.substr(begin, body.find_last_not_of(kSpace) + 1 - begin);
  if (!body.empty() && body != "{}") {
    throw Problem{422, "this takes no body: send none, or {}"};
  }
}

}  // namespace errand::http
