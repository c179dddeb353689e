#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "errand/engine.hpp"

namespace errand::http {

/// What the storage held at one moment, as far as charts and gauges need it.
struct Observation {
  Timestamp at{};  ///< by the storage's clock
  TaskStats stats{};
  std::vector<WorkerInfo> workers{};

  /// A task that ended since the observation before.
  struct Ended {
    std::chrono::microseconds wait;      ///< from when it was due to its start
    std::chrono::microseconds duration;  ///< of its last attempt
  };
  std::vector<Ended> ended{};
};

/// Reads it. Of the tasks that ended after `since` up to 200 are looked at, the last submitted
/// ones: where tasks run in their order these are the last that ended. Throws StorageException.
[[nodiscard]] Observation observe(Engine& engine, std::optional<Timestamp> since);

}  // namespace errand::http
