#pragma once

#include <chrono>
#include <vector>

#include "errand/engine.hpp"
#include "errand/export.hpp"

namespace errand::detail {

/// What `errand doctor` has to say whatever the engine: of the schema,
[[nodiscard]] ERRAND_EXPORT Finding schema_finding(int installed, int supported);

/// of the difference between the server's clock and this machine's,
[[nodiscard]] ERRAND_EXPORT Finding clock_finding(std::chrono::microseconds skew);

/// and of the queues: what waits there, and what was lost with a worker while nobody is there to
/// rescue it. `now` is the engine's, as the times of tasks and workers are.
[[nodiscard]] ERRAND_EXPORT std::vector<Finding> queue_findings(
    TaskCatalog& catalog, const std::vector<WorkerInfo>& workers, Timestamp now);

}  // namespace errand::detail
