#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "errand/task_id.hpp"

namespace errand::redis {

/// Which bundle (scripts/keys.lua) the tasks are in that were claimed here. Completing them is
/// cheaper for whoever knows; it may be forgotten at any time. Thread-safe.
class BundleBook {
 public:
  void note(TaskId id, std::int64_t bundle);
  /// And forgets it.
  [[nodiscard]] std::optional<std::int64_t> take(TaskId id);

  /// More than any worker has in hand. Those that were never settled here do not pile up.
  static constexpr std::size_t kMost = 100'000;

 private:
  std::mutex mutex_;
  boost::unordered_flat_map<TaskId, std::int64_t, std::hash<TaskId>> bundles_;
};

}  // namespace errand::redis
