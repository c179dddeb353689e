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

/// and of the queues.
[[nodiscard]] ERRAND_EXPORT std::vector<Finding> queue_findings(
    const TaskStats& stats, const std::vector<WorkerInfo>& workers);

}  // namespace errand::detail
