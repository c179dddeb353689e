#pragma once

#include "errand/engine.hpp"

#include "http/request.hpp"
#include "http/response.hpp"

namespace errand::http {

/// Stores the tasks of an NDJSON body, 1,000 in a transaction; none if the id of one belongs to
/// another task. Throws Problem and Errand's exceptions; of a StorageException the message says how
/// many are stored.
[[nodiscard]] Response submit_many(Engine& engine, const Request& request);

}  // namespace errand::http
