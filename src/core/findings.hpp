#pragma once

#include <vector>

#include "errand/engine.hpp"
#include "errand/export.hpp"

namespace errand::detail {

/// What `errand doctor` has to say whatever the engine: of the schema,
[[nodiscard]] ERRAND_EXPORT Finding schema_finding(int installed, int supported);

/// and of the queues.
[[nodiscard]] ERRAND_EXPORT std::vector<Finding> queue_findings(
    const TaskStats& stats, const std::vector<WorkerInfo>& workers);

}  // namespace errand::detail
