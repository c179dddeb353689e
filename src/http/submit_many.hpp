#pragma once

#include <optional>

#include "errand/engine.hpp"

#include "http/request.hpp"
#include "http/response.hpp"
#include "http/submit_body.hpp"

namespace errand::http {

/// Stores the tasks of an NDJSON body, 1,000 in a transaction. Throws Problem and Errand's
/// exceptions; of a StorageException the message says how many are stored.
[[nodiscard]] Response submit_many(Engine& engine, const Request& request);

/// The answer if a task with the client's id is stored already; nullopt: it is not. Throws Problem
/// 422 if that is another task.
[[nodiscard]] std::optional<Response> already_submitted(Engine& engine,
                                                        const RequestedTask& requested);

}  // namespace errand::http
