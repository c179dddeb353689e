#include "errand/worker.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#include "errand/errors.hpp"

#include "core/block_signals.hpp"
#include "core/worker_lost.hpp"
#include "worker/executor.hpp"
#include "worker/fetcher.hpp"
#include "worker/held_tasks.hpp"
#include "worker/settler.hpp"
#include "worker/storage_trouble.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;
using detail::is_useless;

/// How often progress is stored and limits are checked.
constexpr milliseconds kKeeperTick{500};

/// A task of a lost worker runs again within its lease and a second.
constexpr milliseconds kBetweenRescues{750};

/// What waits in the buffer behind slow tasks is handed back after this time.
constexpr milliseconds kLongestInBuffer{1000};

/// Extending the lease of a task that is done in a moment would cost more than all else that is
/// done for it: those that were claimed less than this ago, and less than a sixth of their lease,
/// wait for the next time.
constexpr milliseconds kYoung{1000};

/// A claim that takes longer than this, and than the grace period: the storage hangs.
constexpr milliseconds kHangs{1000};

/// After the grace period, for handlers that do listen to their stop_token.
constexpr milliseconds kLastChance{1000};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string tasks(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "task" : "tasks");
}

std::size_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t pages = 0;
  std::size_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

class Worker::Impl {
 public:
  Impl(const WorkSource& source, const Handlers& handlers, WorkerOptions options, Logger& logger)
      : source_{source},
        options_{std::move(options)},
        logger_{logger},
        executor_{handlers, logger},
        concurrency_{options_.concurrency > 0
                         ? static_cast<std::size_t>(options_.concurrency)
                         : std::max<std::size_t>(1, std::thread::hardware_concurrency())},
        held_{concurrency_, options_.max_prefetch, options_.max_held_bytes} {
    info_.host = host_name();
    info_.pid = getpid();
    // The end of an id is random, its beginning is not.
    info_.worker =
        fmt::format("{}:{}:{}", info_.host, info_.pid, TaskId::generate().to_string().substr(28));
    info_.queues = options_.queues;
    info_.concurrency = static_cast<int>(concurrency_);
    held_.on_change([this] { fetcher_.on_room(); });
  }

  /// Abandoned handlers are waited for.
  ~Impl() = default;

  const std::string& name() const noexcept { return info_.worker; }

  WorkerReport run(const std::stop_token& stop) {
    const Subscription work =
        source_.signals->subscribe(Signal::work, [this](const SignalEvent& event) {
          if (concerns_us(event)) fetcher_.wake();
        });
    const Subscription cancellation = source_.signals->subscribe(
        Signal::cancellation, [this](const SignalEvent&) { wake_keeper(); });
    const std::stop_callback on_stop{stop, [this] { end(WorkerReport::Reason::stopped); }};

    beat_first();
    fetcher_.stand_by();
    {
      const Threads threads{*this};
      wait_for_end();
    }
    retire();
    if (error_) std::rethrow_exception(error_);

    const std::lock_guard lock{mutex_};  // abandoned handlers may still end
    WorkerReport report = report_;
    report.reason = *reason_;
    report.abandoned = abandoned_;
    return report;
  }

 private:
  /// All threads, from their start until what they hold is settled or handed back.
  class Threads {
   public:
    explicit Threads(Impl& worker) : worker_{worker} {
      try {
        for (std::size_t i = 0; i < worker_.concurrency_; ++i) {
          worker_.handler_threads_.emplace_back([impl = &worker_] { impl->run_handlers(); });
        }
        const detail::BlockSignals inherited;
        settler_ = std::thread{[this] { worker_.settler_.run(); }};
        keeper_ = std::thread{[this] { worker_.run_keeper(); }};
        fetcher_ = std::thread{[this] { worker_.run_fetcher(); }};
      } catch (...) {
        end();
        throw;
      }
    }
    ~Threads() { end(); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

   private:
    /// In the order in which tasks pass through their hands.
    void end() {
      worker_.end(WorkerReport::Reason::stopped);
      const auto began = Steady::now();
      join(fetcher_);
      // A storage that hangs is not asked once more.
      const bool hangs = Steady::now() - began > std::max(worker_.options_.grace, kHangs);
      worker_.fetcher_.stop_standing_by(!hangs);
      worker_.held_.close();  // again: the fetcher may have brought some, or been handed one
      worker_.abandoned_ = worker_.finish_running();
      worker_.held_.close_ended();
      join(settler_);
      {
        const std::lock_guard lock{worker_.mutex_};
        worker_.keeper_ends_ = true;
      }
      worker_.keeper_wakes_.notify_all();
      join(keeper_);
    }

    static void join(std::thread& thread) {
      if (thread.joinable()) thread.join();
    }

    Impl& worker_;
    std::thread fetcher_;
    std::thread settler_;
    std::thread keeper_;
  };

  /// Says early that the storage cannot be written at all.
  void beat_first() {
    try {
      beat();
    } catch (const StorageException& error) {
      if (error.retry() == StorageException::Retry::useless) throw;
      logger_.error(fmt::format("cannot show this worker: {}", error.what()));
    }
  }

  // --- ending -----------------------------------------------------------------------------------

  /// The first reason counts. Nothing is started any more.
  void end(WorkerReport::Reason reason) {
    {
      const std::lock_guard lock{mutex_};
      if (!reason_) {
        reason_ = reason;
        ended_at_ = Steady::now();
      }
    }
    fetcher_.stop();  // first: what is handed back makes room
    held_.close();
    ends_.notify_all();
  }

  void wait_for_end() {
    std::unique_lock lock{mutex_};
    const auto ended = [this] { return reason_.has_value(); };
    if (options_.time_limit.count() == 0) {
      ends_.wait(lock, ended);
    } else if (!ends_.wait_for(lock, options_.time_limit, ended)) {
      lock.unlock();
      end(WorkerReport::Reason::time_limit);
    }
  }

  /// It began with the end: a storage that does not answer does not make it longer.
  [[nodiscard]] milliseconds grace_left() {
    const std::lock_guard lock{mutex_};
    const auto left = ended_at_ + options_.grace - Steady::now();
    return std::max(std::chrono::ceil<milliseconds>(left), milliseconds{0});
  }

  /// Returns how many handlers still run although they were asked to stop.
  std::int64_t finish_running() {
    if (const std::size_t running = held_.running(); running > 0) {
      logger_.info(fmt::format("stopping; {} running, with {} to finish", tasks(running),
                               std::chrono::duration_cast<std::chrono::seconds>(options_.grace)));
    }
    if (held_.wait_until_idle(grace_left())) return 0;
    logger_.warning(
        fmt::format("the grace period is over; asking {} to stop", tasks(held_.running())));
    held_.ask_running_to_stop();
    if (held_.wait_until_idle(kLastChance)) return 0;
    const std::size_t abandoned = held_.abandon_running();
    logger_.warning(
        fmt::format("{} handlers did not stop; their tasks are handed back", abandoned));
    return static_cast<std::int64_t>(abandoned);
  }

  // --- fetching ---------------------------------------------------------------------------------

  [[nodiscard]] bool concerns_us(const SignalEvent& event) const {
    return event.queues.empty() ||
           std::ranges::find_first_of(event.queues, options_.queues) != event.queues.end();
  }

  void run_fetcher() {
    try {
      fetcher_.run();
    } catch (...) {
      // Without it the worker would live on and do nothing.
      error_ = std::current_exception();
      end(WorkerReport::Reason::stopped);
    }
  }

  // --- handling ---------------------------------------------------------------------------------

  void run_handlers() {
    while (const std::shared_ptr<detail::HeldTask> task = held_.next()) {
      detail::AttemptResult result = executor_.run(*task);
      if (const auto* ended = std::get_if<detail::EndedByHandler>(&result)) {
        if (*ended == detail::EndedByHandler::completed) count_completed();
        held_.drop(task);
        continue;
      }
      auto& outcome = std::get<Outcome>(result);
      const bool failed =
          std::holds_alternative<Failed>(outcome) || std::holds_alternative<Retried>(outcome);
      // Here, not when it is settled: until then others would begin that fail, too.
      if (failed && ++failures_ == options_.failure_limit) {
        end(WorkerReport::Reason::failure_limit);
      }
      // Where more waits to be claimed, settling goes beside the next handler's run.
      if (fetcher_.all_claimed() && held_.take_alone(*task)) {
        settler_.settle_here({task->claim().lease, std::move(outcome)});
        held_.settled_alone();
      } else {
        held_.finish(task, std::move(outcome));
      }
    }
  }

  void count_completed() {
    const std::lock_guard lock{mutex_};
    ++report_.completed;
  }

  // --- settling ---------------------------------------------------------------------------------

  /// False: the worker has to end now.
  bool wait_to_settle(milliseconds pause) {
    std::unique_lock lock{mutex_};
    if (!reason_) {
      ends_.wait_for(lock, pause, [this] { return reason_.has_value(); });
      if (!reason_) return true;
    }
    const auto deadline = ended_at_ + options_.grace;
    if (Steady::now() + pause > deadline) return false;
    lock.unlock();
    std::this_thread::sleep_for(pause);
    return true;
  }

  /// See Settler::Settled.
  void count(const std::vector<Settlement>& batch, const std::vector<SettleStatus>& statuses,
             bool repeated) {
    std::vector<Lease> taken_over;
    {
      const std::lock_guard lock{mutex_};
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (statuses[i] == SettleStatus::lease_lost && !repeated) {
          taken_over.push_back(batch[i].lease);
          continue;
        }
        const Outcome& outcome = batch[i].outcome;
        report_.completed += std::holds_alternative<Completed>(outcome) ? 1 : 0;
        report_.failed += std::holds_alternative<Failed>(outcome) ? 1 : 0;
        report_.retried += std::holds_alternative<Retried>(outcome) ? 1 : 0;
        report_.cancelled += std::holds_alternative<CancelHonoured>(outcome) ? 1 : 0;
        if (std::holds_alternative<Released>(outcome)) {
          ++report_.released;
          fetcher_.add_released(1);
        }
      }
    }
    std::vector<std::string> names;
    for (const Lease& lease : taken_over) names.push_back(held_.name_of(lease));
    warn_of_taken_over(names, "this attempt's outcome is dropped", "their outcomes are dropped");
  }

  // --- keeping ----------------------------------------------------------------------------------

  void wake_keeper() {
    {
      const std::lock_guard lock{mutex_};
      look_for_cancellations_ = true;
    }
    keeper_wakes_.notify_one();
  }

  void run_keeper() {
    const milliseconds extend_every = options_.lease / 3;
    const milliseconds tick = std::min(kKeeperTick, extend_every);
    auto next_extend = Steady::now() + extend_every;
    auto next_beat = Steady::now() + extend_every;    // run() has shown it once
    auto next_rescue = Steady::now() + extend_every;  // others may be about to extend theirs
    bool extend_now = false;
    while (true) {
      const auto now = Steady::now();
      bool storage_is_away = false;
      if (extend_now || now >= next_extend) {
        // Whoever was asked to stop may have begun just now.
        const milliseconds at_least =
            extend_now ? milliseconds{0} : std::min(kYoung, options_.lease / 6);
        storage_is_away = !guarded("extend leases", [&] { extend_leases(at_least); });
        extend_now = extend_now && storage_is_away;
        next_extend = now + (storage_is_away ? tick : extend_every);
      }
      held_.release_stale(kLongestInBuffer);
      guarded("report progress", [this] { report_progress(); });
      if (now >= next_beat) {
        next_beat = now + extend_every;
        storage_is_away |= !guarded("show this worker", [this] { beat(); });
      }
      // A storage that could not be written for long may have let everybody's leases run out:
      // nobody takes them away before it has been seen to be back, and all had time to extend
      // theirs since. That it can be written shows in the beat.
      const auto took_long = [&] { return Steady::now() - now > extend_every; };
      storage_is_away |= took_long();
      if (!storage_is_away && now >= next_rescue) {
        storage_is_away = !rescue_where_it_is_quick(storage_was_away_) || took_long();
        next_rescue = Steady::now() + (storage_was_away_ ? extend_every : kBetweenRescues);
        storage_was_away_ = false;
      }
      if (storage_is_away) {
        storage_was_away_ = true;
        const auto again = Steady::now() + tick;
        next_extend = std::min(next_extend, again);
        next_beat = std::min(next_beat, again);
        next_rescue = again;
      }
      if (options_.memory_limit > 0 && resident_bytes() > options_.memory_limit) {
        end(WorkerReport::Reason::memory_limit);
      }
      std::unique_lock lock{mutex_};
      keeper_wakes_.wait_until(lock, std::min({now + tick, next_extend, next_beat, next_rescue}),
                               [this] { return keeper_ends_ || look_for_cancellations_; });
      if (keeper_ends_) return;
      extend_now = std::exchange(look_for_cancellations_, false) || extend_now;
    }
  }

  /// False: it could not.
  template <class Body>
  bool guarded(const char* doing, Body&& body) {
    try {
      body();
      return true;
    } catch (const std::exception& error) {
      logger_.error(fmt::format("cannot {}: {}", doing, error.what()));
      return false;
    }
  }

  void extend_leases(milliseconds held_for) {
    const std::vector<Lease> leases = held_.leases(held_for);
    std::vector<std::string> taken_over;
    for (const LeaseState& state : source_.queue->extend(leases, options_.lease)) {
      if (state.lost) {
        const std::string name = held_.name_of(state.lease);
        if (held_.lost(state.lease)) taken_over.push_back(name);
      } else if (state.cancel_requested) {
        held_.cancel_requested(state.lease);
      }
    }
    warn_of_taken_over(taken_over, "this attempt is asked to stop", "they are asked to stop");
  }

  /// A handler may report once and then work for long: what could not be stored is tried again.
  void report_progress() {
    const std::vector<ProgressReport> reports = held_.take_progress();
    try {
      source_.queue->report_progress(reports);
    } catch (const std::exception&) {
      held_.give_progress_back(reports);
      throw;
    }
  }

  /// Only looks whether it could, where the storage was away. False: it is away.
  bool rescue_where_it_is_quick(bool was_away) {
    RescueRequest request = rescue_request();
    if (was_away) request.limit = 0;
    bool any = false;
    const detail::Look look;
    if (!guarded("rescue tasks", [&] { any = rescue(request); })) return false;
    if (any || !look.took_long()) return true;
    if (!was_away) {
      logger_.warning(
          "the storage takes long to say what was lost; until it is quicker nothing is taken from "
          "workers that it may only have kept from extending their leases");
    }
    return false;
  }

  [[nodiscard]] RescueRequest rescue_request() const {
    RescueRequest request;
    request.max_crashes = options_.max_crashes;
    return request;
  }

  /// False: nothing was lost. One line of the log, however many a worker had in its hands.
  bool rescue(const RescueRequest& request) {
    std::map<std::pair<std::string, TaskStatus>, std::vector<TaskId>> lost;
    for (const Rescued& task : source_.queue->rescue(request)) {
      lost[{task.worker, task.status}].push_back(task.id);
    }
    for (const auto& [how, ids] : lost) {
      const auto& [worker, status] = how;
      const std::string first = ids.front().to_string();
      logger_.warning(ids.size() == 1
                          ? fmt::format("task {} was lost by worker {} and is {} now", first,
                                        worker, to_string(status))
                          : fmt::format("{} tasks were lost by worker {} and are {} now, {} first",
                                        ids.size(), worker, to_string(status), first));
    }
    return !lost.empty();
  }

  void warn_of_taken_over(const std::vector<std::string>& names, const char* one,
                          const char* several) {
    if (names.size() == 1) {
      logger_.warning(fmt::format("{} was taken over meanwhile; {}", names.front(), one));
    } else if (!names.empty()) {
      logger_.warning(fmt::format("{} tasks were taken over meanwhile, {} first; {}", names.size(),
                                  names.front(), several));
    }
  }

  void beat() {
    {
      const std::lock_guard lock{mutex_};
      info_.handled = report_.completed + report_.failed + report_.retried + report_.cancelled;
      info_.failed = report_.failed + report_.retried;
    }
    info_.running = static_cast<std::int64_t>(held_.running());
    if (source_.registry != nullptr) source_.registry->beat(info_, 4 * options_.lease);
  }

  void retire() {
    if (source_.registry == nullptr) return;
    guarded("sign off", [this] { source_.registry->retire(info_.worker); });
  }

  const WorkSource source_;
  const WorkerOptions options_;
  Logger& logger_;
  const detail::Executor executor_;
  const std::size_t concurrency_;
  WorkerInfo info_;  ///< used by the keeper alone once it runs
  detail::HeldTasks held_;
  detail::Fetcher fetcher_{source_,
                           options_,
                           info_.worker,
                           held_,
                           logger_,
                           [this] {
                             bool any = false;
                             if (storage_was_away_) return any;
                             guarded("rescue tasks", [&] { any = rescue(rescue_request()); });
                             return any;
                           },
                           [this](WorkerReport::Reason why) { end(why); }};
  detail::Settler settler_{
      *source_.queue, held_, logger_,
      [this](const std::vector<Settlement>& batch, const std::vector<SettleStatus>& statuses,
             bool repeated) { count(batch, statuses, repeated); },
      [this](milliseconds pause) { return wait_to_settle(pause); }};

  std::mutex mutex_;
  std::condition_variable ends_;
  std::condition_variable keeper_wakes_;
  std::optional<WorkerReport::Reason> reason_;
  Steady::time_point ended_at_{};  ///< when reason_ was set
  bool look_for_cancellations_ = false;
  bool keeper_ends_ = false;
  std::atomic<bool> storage_was_away_ = false;  ///< when the keeper last tried to write
  WorkerReport report_;
  std::int64_t abandoned_ = 0;
  std::exception_ptr error_;  ///< the fetcher's, on its way to the caller of run()

  std::atomic<std::int64_t> failures_ = 0;
  std::vector<std::jthread> handler_threads_;
};

Worker::Worker(Engine& engine, const Handlers& handlers, WorkerOptions options, Logger& logger)
    : Worker{WorkSource{&engine.queue(), &engine.signals(), &engine.workers()}, handlers,
             std::move(options), logger} {}

Worker::Worker(const WorkSource& source, const Handlers& handlers, WorkerOptions options,
               Logger& logger) {
  validate(options);
  impl_ = std::make_unique<Impl>(source, handlers, std::move(options), logger);
}

Worker::~Worker() = default;

WorkerReport Worker::run(const std::stop_token& stop) { return impl_->run(stop); }

const std::string& Worker::name() const noexcept { return impl_->name(); }

}  // namespace errand
