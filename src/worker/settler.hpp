#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "errand/logger.hpp"
#include "errand/task_queue.hpp"

#include "worker/held_tasks.hpp"

namespace errand::detail {

/// Stores the outcomes of a worker's attempts, whatever has ended while its last transaction ran.
/// Thread-safe.
///
/// What the storage does not take waits aside and is tried again: it may be a single outcome that
/// stands in the way, and the others go on. Until it is stored its lease is kept alive, and nothing
/// is lost.
class Settler {
 public:
  /// Called with each batch that the storage has answered for, by the thread that settled it.
  /// `repeated`: a lost lease most likely means that an earlier try did succeed.
  using Settled = std::function<void(const std::vector<Settlement>& batch,
                                     const std::vector<SettleStatus>& statuses, bool repeated)>;
  /// Waits before another try of a worker that is to end; false: it has to end now.
  using WaitAtTheEnd = std::function<bool(std::chrono::milliseconds pause)>;

  /// The references must outlive it.
  Settler(WorkQueue& queue, HeldTasks& held, Logger& logger, Settled settled,
          WaitAtTheEnd wait_at_the_end)
      : queue_{queue},
        held_{held},
        logger_{logger},
        settled_{std::move(settled)},
        wait_at_the_end_{std::move(wait_at_the_end)} {}

  /// Until `held` is closed and all is settled, or waiting was refused: leases run out then, and
  /// others do the work again.
  void run();

  /// By the calling thread, which may be another than run()'s. What the storage does not take is
  /// left to run().
  void settle_here(Settlement settlement);

 private:
  struct Unsettled {
    std::vector<Settlement> batch;
    bool in_doubt = false;  ///< the storage may have taken them
  };

  /// What is left: the storage did not take it. Nothing, if each has been settled by itself.
  std::optional<Unsettled> settle(Unsettled part);
  void settle_unsettled();
  /// One by one. False: it seems that the storage takes none.
  bool settle_each(const Unsettled& part);
  std::optional<Unsettled> refuse(const Unsettled& part, const std::string& reason);
  void keep(Unsettled part);
  [[nodiscard]] bool all_is_settled();

  WorkQueue& queue_;
  HeldTasks& held_;
  Logger& logger_;
  const Settled settled_;
  const WaitAtTheEnd wait_at_the_end_;
  std::mutex mutex_;
  std::vector<Unsettled> unsettled_;  ///< tried again by run()
};

}  // namespace errand::detail
