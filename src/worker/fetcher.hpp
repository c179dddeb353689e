#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "errand/logger.hpp"
#include "errand/worker.hpp"

#include "worker/held_tasks.hpp"

namespace errand::detail {

/// Keeps a worker's buffer full: claims when there is room and something may be there to claim, and
/// lets the worker be handed tasks while it has nothing to do. Thread-safe.
class Fetcher {
 public:
  /// There is nothing left to fetch, and all that was fetched is settled. Nothing else ends it but
  /// stop().
  using End = std::function<void(WorkerReport::Reason reason)>;

  /// The references must outlive it.
  Fetcher(const WorkSource& source, const WorkerOptions& options, const std::string& worker,
          HeldTasks& held, Logger& logger, End end)
      : source_{source},
        options_{options},
        worker_{worker},
        held_{held},
        logger_{logger},
        end_{std::move(end)} {}

  /// Until stop(), or the end that it tells of. Throws StorageException if a queue that is to be
  /// drained can never be claimed from.
  void run();
  void stop();

  /// From now on tasks may be handed to the worker; what is under way when that ends goes back.
  void stand_by();
  void stop_standing_by();

  /// There may be something to claim.
  void wake();
  /// A handler is free. If the last claim left nothing behind, whatever comes is told by a signal:
  /// there is no need to look. To drain, or at a limit, it may be the end.
  void on_room();

  /// All that was due when it last looked.
  [[nodiscard]] bool all_claimed();
  /// So many of the claimed tasks were handed back: they do not count for the limit.
  void add_released(std::int64_t count) { released_ += count; }

 private:
  [[nodiscard]] ClaimBatch claim(std::size_t wanted);
  /// The answer to a claim was lost: what the storage thinks is held here and is not goes back,
  /// before its lease runs out and counts as a crash.
  void hand_back_unknown();
  [[nodiscard]] std::chrono::milliseconds longest_wait() const;
  [[nodiscard]] std::size_t claimable(std::size_t wanted) const;
  [[nodiscard]] bool limit_used_up() const { return options_.limit > 0 && claimable(1) == 0; }
  /// False: stop() was called.
  [[nodiscard]] bool begin();
  void set_all_claimed(bool all);
  void wait(std::chrono::milliseconds timeout);
  /// Whatever wakes it but stop().
  void pause(std::chrono::milliseconds time);

  const WorkSource& source_;
  const WorkerOptions& options_;
  const std::string& worker_;
  HeldTasks& held_;
  Logger& logger_;
  const End end_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  bool stopped_ = false;
  bool again_ = false;        ///< look once more
  bool all_claimed_ = false;  ///< that was due when it last looked

  // Of run() alone, but for stand_by() before it and stop_standing_by() after it.
  Subscription standing_by_;
  bool was_standing_by_ = false;
  bool claim_in_doubt_ = false;
  std::int64_t claimed_ = 0;
  std::atomic<std::int64_t> released_ = 0;
};

}  // namespace errand::detail
