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
#include "worker/storage_trouble.hpp"

namespace errand::detail {

/// Keeps a worker's buffer full: claims when there is room and something may be there to claim, and
/// lets the worker be handed tasks while it has nothing to do. Thread-safe.
class Fetcher {
 public:
  /// There is nothing left to fetch, and all that was fetched is settled. Nothing else ends it but
  /// stop().
  using End = std::function<void(WorkerReport::Reason reason)>;
  /// Takes away what workers have lost; false: nothing, or it could not.
  using Rescue = std::function<bool()>;

  /// The references must outlive it.
  Fetcher(const WorkSource& source, const WorkerOptions& options, const std::string& worker,
          HeldTasks& held, Logger& logger, Rescue rescue, End end)
      : source_{source},
        options_{options},
        worker_{worker},
        held_{held},
        logger_{logger},
        rescue_{std::move(rescue)},
        end_{std::move(end)} {}

  /// Until stop(), or the end that it tells of. Throws StorageException if a queue that is to be
  /// drained can never be claimed from.
  void run();
  void stop();

  /// From now on tasks may be handed to the worker.
  void stand_by();
  /// `hand_back`: what came for the worker and did not reach it, which waits for the storage.
  void stop_standing_by(bool hand_back);

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
  /// The same, where there is need and it is time; a storage that does not answer does not keep
  /// others from being claimed from.
  void resolve_doubt();
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
  const Rescue rescue_;
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
  HeldTasks::Steady::time_point next_hand_back_{};
  std::chrono::milliseconds pause_between_hand_backs_ = kFirstPauseAfterError;
  std::int64_t claimed_ = 0;
  std::atomic<std::int64_t> released_ = 0;
};

}  // namespace errand::detail
