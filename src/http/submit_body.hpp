#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "errand/task_queue.hpp"
#include "errand/timestamp.hpp"

#include "http/request.hpp"

/// What POST /api/tasks takes.
namespace errand::http {

struct RequestedTask {
  NewTask task;
  std::optional<Timestamp> at{};  ///< run not before this moment, in place of task.delay
  bool has_own_id = false;        ///< the id is the client's, and may be stored already
  std::int64_t line = 0;          ///< of an NDJSON body, from 1
};

/// At most this many lines of NDJSON.
inline constexpr std::size_t kMaxLines = 10'000;

/// One task. Throws Problem: 400 for what is not JSON, 422 with the pointer for what is no task,
/// 400 for an Idempotency-Key that is none.
[[nodiscard]] RequestedTask requested_task(const Request& request);

/// One task a line; Problems say which line.
[[nodiscard]] std::vector<RequestedTask> requested_tasks(const Request& request);

/// For `at`: how long from `now` on.
void delay_until_due(RequestedTask& requested, Timestamp now);

}  // namespace errand::http
