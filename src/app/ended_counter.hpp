#pragma once

#include <map>
#include <optional>
#include <vector>

#include "errand/engine.hpp"

namespace errand::detail {

/// Counts tasks that end, look by look: what was deleted since, and how many there are in all, does
/// not matter. A task that was deleted between its end and the next look is not counted. Not
/// thread-safe.
class EndedCounter {
 public:
  struct News {
    StatusCounts tasks{};              ///< that ended since the look before
    std::vector<TaskRecord> latest{};  ///< of these, the last ones; without documents
  };

  /// The engine must outlive it. `latest`: how many records to read at most.
  explicit EndedCounter(Engine& engine, std::size_t latest = 0)
      : engine_{engine}, latest_{latest} {}

  /// `now` by the engine's clock. nullopt the first time: from then on it counts. Throws
  /// StorageException; then nothing is lost, and the next look finds it.
  [[nodiscard]] std::optional<News> look(Timestamp now);

 private:
  Engine& engine_;
  const std::size_t latest_;
  std::optional<Timestamp> since_;             ///< the next look begins here
  std::map<Timestamp, StatusCounts> counted_;  ///< by the second
  std::map<TaskId, Timestamp> told_;           ///< those of the last look, and when they ended
};

}  // namespace errand::detail
