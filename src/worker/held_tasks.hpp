#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "errand/worker.hpp"

#include "worker/executor.hpp"
#include "worker/prefetch.hpp"

namespace errand::detail {

/// The tasks a worker holds, on their way from the fetcher through the handlers to the settler.
/// Thread-safe; it never calls the engine, so that its lock may be taken inside signals.
///
///     fetched ──add()──► buffer ──next()──► running ──finish()──► ended ──take_ended()──► settled
///                                              └──────take_alone()──► settled by its handler
class HeldTasks {
 public:
  using Steady = std::chrono::steady_clock;

  /// `max_bytes`: of payload, beyond which no more is wanted than keeps the handlers busy.
  HeldTasks(std::size_t concurrency, std::size_t max_prefetch, std::size_t max_bytes)
      : concurrency_{concurrency}, max_bytes_{max_bytes}, prefetch_{concurrency, max_prefetch} {}

  // For the fetcher.

  /// How many more tasks to claim now; 0: enough are in hand.
  [[nodiscard]] std::size_t wanted();
  /// How many handlers have nothing to do, and nothing in the buffer.
  [[nodiscard]] std::size_t free_handlers();
  /// `since`: their leases began no earlier.
  void add(std::vector<Claim> claims, Steady::time_point since = Steady::now());
  [[nodiscard]] bool holds_suspect();
  [[nodiscard]] bool empty();

  // For the handlers.

  /// Blocks for the next task to run; null when closed, even if some are in the buffer.
  [[nodiscard]] std::shared_ptr<HeldTask> next();
  void finish(const std::shared_ptr<HeldTask>& task, Outcome outcome);
  /// Instead of finish(): true if it is the only task in hand. Then there is nothing to share a
  /// transaction with, and the caller settles it itself, which takes a thread less, and calls
  /// settled_alone() when that was tried. Until then its handler is not free, and the settler
  /// stays.
  [[nodiscard]] bool take_alone(HeldTask& task);
  void settled_alone();
  /// It has run and needs no settling.
  void drop(const std::shared_ptr<HeldTask>& task);

  // For the settler.

  /// Blocks until attempts have ended or call_settler(), at most until then: empty if none has.
  /// nullopt when closed, all is taken, and no handler settles. As many as make one transaction of
  /// reasonable size.
  [[nodiscard]] std::optional<std::vector<Settlement>> take_ended(
      Steady::time_point until = Steady::time_point::max());
  void call_settler();
  /// They are settled, or lost: the worker does not hold them any more.
  void forget(const std::vector<Settlement>& settled);

  // For the keeper.

  /// Of what has been held for so long.
  [[nodiscard]] std::vector<Lease> leases(
      std::chrono::milliseconds at_least = std::chrono::milliseconds{0});
  [[nodiscard]] std::vector<ProgressReport> take_progress();
  /// The storage did not take these.
  void give_progress_back(const std::vector<ProgressReport>& reports);
  /// For the log: `task ID`, or what a message without a record is called.
  [[nodiscard]] std::string name_of(const Lease& lease);
  /// False: it has ended meanwhile, and its own settlement made the lease look lost.
  bool lost(const Lease& lease);
  void cancel_requested(const Lease& lease);
  /// Hands back what has been in the buffer for longer than `age`: its handlers are busy.
  void release_stale(std::chrono::milliseconds age);
  [[nodiscard]] std::size_t running();

  // For the end.

  /// Hands back the buffer; handlers that wait for a task end. What is added later stays in the
  /// buffer until close() is called again.
  void close();
  /// True: no handler is running any more; false: `timeout` passed.
  [[nodiscard]] bool wait_until_idle(std::chrono::milliseconds timeout);
  void ask_running_to_stop();
  /// Hands back what still runs; its outcome will not count. Returns how many.
  std::size_t abandon_running();
  /// take_ended() returns empty once all is taken.
  void close_ended();

  /// Called, without the lock, whenever room was made or the last task has left.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }

 private:
  using Stage = HeldTask::Stage;
  using Entries = boost::unordered_flat_map<TaskId, std::shared_ptr<HeldTask>, std::hash<TaskId>>;

  /// The entry of this very attempt, if it is in `stage`; else the end.
  [[nodiscard]] Entries::iterator find(const Lease& lease, Stage stage);
  /// This attempt does not count any more: its outcome will not be settled, and it is not run if it
  /// has not started yet.
  std::shared_ptr<HeldTask> remove(Entries::iterator entry);
  /// Its handler has returned, or it will not run.
  void end(HeldTask& task);
  void end(HeldTask& task, Outcome outcome);
  /// A handler is free; true if there should be more in the buffer.
  bool stop_running(const HeldTask& task);
  [[nodiscard]] bool is_all_taken() const;
  void notify_change() const;

  /// The most that fits beside what is held, as far as can be told from the payloads seen so far.
  [[nodiscard]] std::size_t room_in_bytes() const;

  const std::size_t concurrency_;
  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::condition_variable buffered_;
  std::condition_variable ended_or_closed_;
  std::condition_variable idle_;
  Prefetch prefetch_;
  Entries entries_;
  std::deque<std::shared_ptr<HeldTask>> buffer_;
  std::vector<Settlement> ended_;
  std::size_t running_ = 0;
  std::size_t settling_ = 0;    ///< handlers that settle what they have run
  std::size_t held_bytes_ = 0;  ///< payload of what is buffered or running
  double mean_bytes_ = 0;       ///< of the payloads claimed lately
  std::size_t suspects_ = 0;
  Steady::time_point last_start_{};
  bool closed_ = false;
  bool ended_closed_ = false;
  bool settler_called_ = false;
  std::function<void()> changed_;
};

}  // namespace errand::detail
