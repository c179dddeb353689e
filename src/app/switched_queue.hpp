#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "errand/engine.hpp"

namespace errand::detail {

/// What the queue was when it was paused or resumed. Anything may be the name of a queue: one that
/// nobody uses is likely to be mistyped.
struct SwitchedQueue {
  std::string name;
  bool was_paused = false;
  std::int64_t tasks = 0;  ///< of any status
  std::int64_t workers = 0;

  [[nodiscard]] bool is_unused() const noexcept { return tasks == 0 && workers == 0; }
};

/// Throws StorageException.
[[nodiscard]] std::vector<SwitchedQueue> look_at_queues(const std::vector<std::string>& names,
                                                        Engine& engine);

/// Of a queue that is `paused` now.
[[nodiscard]] boost::json::object to_json(const SwitchedQueue& queue, bool paused);

/// How many of the workers serve the queue.
[[nodiscard]] std::int64_t count_serving(const std::vector<WorkerInfo>& workers,
                                         const std::string& queue);

}  // namespace errand::detail
