#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "errand/engine.hpp"

#include "app/ended_counter.hpp"

namespace errand::http {

/// What the storage held at one moment, as far as charts and gauges need it.
struct Observation {
  Timestamp at{};  ///< by the storage's clock
  TaskStats stats{};
  std::vector<WorkerInfo> workers{};

  /// How many tasks ended since the observation before, whatever was deleted since; nullopt in the
  /// first one.
  std::optional<StatusCounts> ended{};

  /// A task that ended since the observation before.
  struct Timing {
    std::chrono::microseconds wait;      ///< from when it was due to its start
    std::chrono::microseconds duration;  ///< of its last attempt
  };
  std::vector<Timing> timings{};  ///< of the last ones that ran
};

/// Reads one observation after another. Not thread-safe.
class Observer {
 public:
  /// So many tasks that ended are looked at each time for how long they took: the last ones.
  static constexpr std::size_t kMostTimed = 500;

  /// The engine must outlive it.
  explicit Observer(Engine& engine) : engine_{engine}, counter_{engine, kMostTimed} {}

  /// Throws StorageException.
  [[nodiscard]] Observation look();

 private:
  Engine& engine_;
  detail::EndedCounter counter_;
};

}  // namespace errand::http
