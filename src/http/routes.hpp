#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/request.hpp"
#include "http/response.hpp"
#include "http/service.hpp"

namespace errand::http {

/// A request at its route.
struct Call {
  Service& service;
  const Request& request;
  std::span<const std::string> parts;  ///< of the path, where the route has {names}

  /// The task id in the path; Problem 404 for what cannot be one.
  [[nodiscard]] TaskId task_id() const;

  /// Problem 422 unless the body is empty or {}.
  void refuse_body() const;
};

/// Serves a call by asking the storage. May block: it runs on the pool. Throws Problem and
/// Errand's exceptions.
using Blocking = Response (*)(const Call&);

/// The same where it may take minutes, and must not keep others from the storage: few of these run
/// at once.
struct Lengthy {
  Response (*serve)(const Call&);
};

/// Without asking the storage, but too much work for the loop. It is served while the storage
/// hangs.
struct Aside {
  Response (*serve)(const Call&);
};

/// Without asking the storage: it is called at once, and must not block.
struct Immediate {
  Response (*serve)(const Call&);
};

/// What the server does itself, because it must wait without blocking.
enum class Waiting : std::uint8_t { submit, result, events, readiness };

struct Route {
  Method method;
  std::string_view path;  ///< as OpenAPI writes it: /api/tasks/{taskId}
  Role role;
  std::variant<Blocking, Lengthy, Aside, Immediate, Waiting> action;

  [[nodiscard]] bool waits_for_result() const {
    const auto* waiting = std::get_if<Waiting>(&action);
    return waiting != nullptr && *waiting == Waiting::result;
  }
};

/// All of them. openapi.json describes each; a test compares.
[[nodiscard]] std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;      ///< null: no route, perhaps a file
  std::vector<std::string> parts{};  ///< the values of {names}, in order
};

/// HEAD is served as GET. Throws Problem 405 where the path has routes, but not for the method;
/// 404 for unknown paths below /api.
[[nodiscard]] Match match(Method method, const Target& target);

}  // namespace errand::http
