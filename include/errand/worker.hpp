#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/export.hpp"
#include "errand/handler.hpp"
#include "errand/logger.hpp"

namespace errand {

struct WorkerOptions {
  std::vector<std::string> queues{kDefaultQueue};  ///< earlier ones first
  int concurrency = 0;                             ///< handlers at once; 0: one per processor

  /// A worker that dies is noticed after this long. Extended every third of it, but for what was
  /// claimed in the last second.
  std::chrono::milliseconds lease{15'000};

  /// How long running handlers may go on after a stop; then they are asked to stop, and a second
  /// later their tasks are handed back without them.
  std::chrono::milliseconds grace{30'000};

  std::int64_t limit = 0;                   ///< stop after this many attempts; 0: never
  std::chrono::milliseconds time_limit{0};  ///< stop after this time; 0: never
  std::size_t memory_limit = 0;             ///< stop above this many bytes resident; 0: never
  std::int64_t failure_limit = 0;           ///< stop after this many failed attempts; 0: never
  bool drain = false;                       ///< stop when no task is due and none is running
  std::size_t max_prefetch = 1000;          ///< most tasks held beyond those running
  std::size_t max_held_bytes = std::size_t{64} << 20;  ///< about the most payload held at a time
  int max_crashes = 3;                                 ///< see RescueRequest

  /// How often to look for work while the storage cannot tell of it; once a second where it can.
  std::chrono::milliseconds poll_interval{100};
};

/// Throws ConfigurationException naming the option and its range.
ERRAND_EXPORT void validate(const WorkerOptions& options);

struct WorkerReport {
  enum class Reason : std::uint8_t {
    stopped,
    drained,
    limit,
    time_limit,
    memory_limit,
    failure_limit
  };
  Reason reason = Reason::stopped;
  std::int64_t completed = 0;
  std::int64_t failed = 0;  ///< for good
  std::int64_t retried = 0;
  std::int64_t cancelled = 0;
  std::int64_t released = 0;  ///< handed back unfinished

  /// Handlers that ignored the stop and still run in this process; their tasks were handed back.
  /// The process should exit without waiting for them.
  std::int64_t abandoned = 0;
};

[[nodiscard]] ERRAND_EXPORT std::string_view to_string(WorkerReport::Reason reason) noexcept;

/// What a worker works for. All of it must outlive the worker.
struct WorkSource {
  WorkQueue* queue = nullptr;
  Signals* signals = nullptr;
  WorkerRegistry* registry = nullptr;  ///< where operators see the worker; null: nowhere
};

/// Claims, runs, settles; keeps its leases; rescues the tasks of workers that died.
///
/// One fetcher keeps a small buffer of claimed tasks, `concurrency` threads run handlers, one
/// settler stores whatever has ended while its last transaction ran, one keeper extends leases,
/// reports progress and rescues. A task that is alone is settled by its handler. Nothing a handler
/// throws ends the worker. While the storage is unreachable it waits and tries again.
class ERRAND_EXPORT Worker {
 public:
  /// The references must outlive the worker. Throws ConfigurationException for bad options.
  Worker(Engine& engine, const Handlers& handlers, WorkerOptions options,
         Logger& logger = silent_logger());
  Worker(const WorkSource& source, const Handlers& handlers, WorkerOptions options,
         Logger& logger = silent_logger());
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Blocks until `stop` is requested or a limit is reached, and the work in hand is done or
  /// handed back. Once per object. If the report says `abandoned`, the destructor would wait for
  /// those handlers.
  ///
  /// Throws StorageException if the storage can be used neither now nor later, as a file that this
  /// user may not write: at the start, and when it is to drain. Throws std::system_error if its
  /// threads cannot be started.
  WorkerReport run(const std::stop_token& stop);

  /// How operators see it: host, process id and a random part.
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand
