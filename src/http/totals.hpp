#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "errand/task_catalog.hpp"

namespace errand::http {

/// How many tasks a filter finds, counted no more than a tenth of the time: where counting takes
/// 100 ms a total may be a second old, and where it takes nothing it is always new. Thread-safe.
class Totals {
 public:
  /// Throws StorageException.
  [[nodiscard]] std::int64_t count(TaskCatalog& catalog, const TaskFilter& filter);

 private:
  using Steady = std::chrono::steady_clock;
  struct Total {
    std::int64_t value = 0;
    Steady::time_point good_until{};
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Total> totals_;
};

}  // namespace errand::http
