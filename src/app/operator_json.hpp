#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "errand/task_catalog.hpp"
#include "errand/worker_registry.hpp"

/// Counts, queues and workers as `--json` and the HTTP API give them.
namespace errand::detail {

[[nodiscard]] boost::json::object to_json(const StatusCounts& counts);
[[nodiscard]] boost::json::array to_json(const std::vector<QueueStats>& queues);
[[nodiscard]] boost::json::object to_json(const WorkerInfo& worker);
[[nodiscard]] boost::json::array to_json(const std::vector<WorkerInfo>& workers);

}  // namespace errand::detail
