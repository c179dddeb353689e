#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "errand/export.hpp"
#include "errand/timestamp.hpp"

namespace errand {

/// A worker as it shows itself to operators.
struct WorkerInfo {
  std::string worker{};  ///< unique: host, process and a random part
  std::string host{};
  std::int64_t pid = 0;
  std::vector<std::string> queues{};
  int concurrency = 1;
  std::int64_t running = 0;  ///< tasks in its handlers now
  std::int64_t handled = 0;  ///< attempts ended since it started
  std::int64_t failed = 0;   ///< of these, how many failed or will be retried
  Timestamp started_at{};    ///< by the engine's clock, set by the first beat()
  Timestamp seen_at{};       ///< by the engine's clock, set by each beat()
};

/// Which workers are there. For people: no decision about a task depends on what it
/// says. A worker that cannot be shown takes the storage for one that cannot be written, and takes
/// nothing away from others meanwhile.
/// Thread-safe; throws StorageException.
class ERRAND_EXPORT WorkerRegistry {
 public:
  virtual ~WorkerRegistry() = default;

  /// Shows or refreshes the worker; started_at and seen_at of `worker` are ignored. Workers not
  /// seen for `forget_after` are dropped.
  virtual void beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) = 0;

  /// The worker has ended. No error if it is not there.
  virtual void retire(const std::string& worker) = 0;

  /// By start, oldest first.
  [[nodiscard]] virtual std::vector<WorkerInfo> workers() = 0;
};

}  // namespace errand
