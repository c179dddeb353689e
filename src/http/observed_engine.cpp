#include "http/observed_engine.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace errand::http {
namespace {

using Steady = std::chrono::steady_clock;

/// Around every call of the storage.
template <class Body>
std::invoke_result_t<Body> measured(Metrics& metrics, const char* operation, Body&& body) {
  const auto begin = Steady::now();
  const auto took = [&] {
    return std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begin);
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      metrics.observe_call(operation, took());
    } else {
      auto result = body();
      metrics.observe_call(operation, took());
      return result;
    }
  } catch (const StorageException& error) {
    metrics.count_error(operation, error.retry());
    throw;
  }
}

Metrics::TaskEvent event_of(const Outcome& outcome) {
  struct Visitor {
    Metrics::TaskEvent operator()(const Completed&) { return Metrics::TaskEvent::completed; }
    Metrics::TaskEvent operator()(const Failed&) { return Metrics::TaskEvent::failed; }
    Metrics::TaskEvent operator()(const Retried&) { return Metrics::TaskEvent::retried; }
    Metrics::TaskEvent operator()(const CancelHonoured&) { return Metrics::TaskEvent::cancelled; }
    Metrics::TaskEvent operator()(const Released&) { return Metrics::TaskEvent::released; }
  };
  return std::visit(Visitor{}, outcome);
}

/// The storage's time without asking for it each time.
class StorageClock {
 public:
  explicit StorageClock(Engine& engine) : engine_{engine} {}

  /// nullopt while the storage cannot say.
  std::optional<Timestamp> now() {
    const auto steady = Steady::now();
    if (!read_ || steady > *read_ + kGoodFor) {
      try {
        time_ = engine_.now();
        read_ = steady;
      } catch (const StorageException&) {
        if (!read_) return std::nullopt;
      }
    }
    return time_ + std::chrono::duration_cast<std::chrono::microseconds>(steady - *read_);
  }

 private:
  static constexpr std::chrono::seconds kGoodFor{60};
  Engine& engine_;
  std::optional<Steady::time_point> read_;
  Timestamp time_{};
};

/// Whether the attempt came to an end, and was not just handed back.
bool was_tried(const Outcome& outcome) { return !std::holds_alternative<Released>(outcome); }

}  // namespace

class ObservedEngine::Queue final : public TaskQueue {
 public:
  Queue(Engine& engine, Metrics& metrics)
      : next_{engine.queue()}, metrics_{metrics}, clock_{engine} {}

  std::size_t submit(std::span<const NewTask> tasks) override {
    const std::size_t stored = measured(metrics_, "submit", [&] { return next_.submit(tasks); });
    metrics_.observe_batch(Metrics::Batch::submit, tasks.size());
    for (const NewTask& task : tasks) {
      metrics_.count(Metrics::TaskEvent::submitted, task.envelope.type(), task.queue);
    }
    return stored;
  }
  std::size_t submits_at_a_time() const noexcept override { return next_.submits_at_a_time(); }
  void adopt(std::span<const NewTask> tasks) override {
    measured(metrics_, "submit", [&] { next_.adopt(tasks); });
    metrics_.observe_batch(Metrics::Batch::submit, tasks.size());
    for (const NewTask& task : tasks) {
      metrics_.count(Metrics::TaskEvent::submitted, task.envelope.type(), task.queue);
    }
  }

  ClaimBatch claim(const ClaimRequest& request) override {
    ClaimBatch batch = measured(metrics_, "claim", [&] { return next_.claim(request); });
    if (batch.claims.empty()) return batch;
    metrics_.observe_batch(Metrics::Batch::claim, batch.claims.size());
    const std::lock_guard lock{mutex_};
    const std::optional<Timestamp> now = clock_.now();
    for (const Claim& claim : batch.claims) {
      held_.insert_or_assign(claim.lease.id, Attempt{claim.envelope.type(), claim.queue});
      if (claim.attempt > 1 || !now) continue;
      const Timestamp due = std::max(claim.submitted_at, claim.available_at);
      metrics_.observe_wait(claim.envelope.type(), claim.queue,
                            std::max(*now - due, std::chrono::microseconds{0}));
    }
    return batch;
  }

  Subscription stand_by(const std::string& worker, Taker taker) override {
    return next_.stand_by(worker, [this, taker = std::move(taker)](Claim claim) {
      {
        const std::lock_guard lock{mutex_};
        held_.insert_or_assign(claim.lease.id, Attempt{claim.envelope.type(), claim.queue});
      }
      // It was claimed in the moment in which it was submitted.
      metrics_.observe_wait(claim.envelope.type(), claim.queue, std::chrono::microseconds{0});
      taker(std::move(claim));
    });
  }

  /// A handler begins with it.
  void begin(TaskId id) {
    const std::lock_guard lock{mutex_};
    const auto held = held_.find(id);
    if (held != held_.end()) held->second.counted = true;
  }

  std::vector<LeaseState> extend(std::span<const Lease> leases,
                                 std::chrono::milliseconds lease) override {
    return measured(metrics_, "extend", [&] { return next_.extend(leases, lease); });
  }

  std::vector<Lease> held_by(const std::string& worker) override {
    return measured(metrics_, "held_by", [&] { return next_.held_by(worker); });
  }

  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override {
    std::vector<SettleStatus> statuses =
        measured(metrics_, "settle", [&] { return next_.settle(settlements); });
    if (!settlements.empty()) metrics_.observe_batch(Metrics::Batch::settle, settlements.size());
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      const auto held = held_.extract(settlements[i].lease.id);
      if (held.empty() || statuses[i] != SettleStatus::settled) continue;
      const Attempt& attempt = held.mapped();
      // One without a handler ends where others begin.
      if (!attempt.counted && was_tried(settlements[i].outcome)) {
        metrics_.count(Metrics::TaskEvent::started, attempt.type, attempt.queue);
      }
      metrics_.count(event_of(settlements[i].outcome), attempt.type, attempt.queue);
    }
    return statuses;
  }

  void report_progress(std::span<const ProgressReport> reports) override {
    measured(metrics_, "report_progress", [&] { next_.report_progress(reports); });
  }
  std::vector<CancelStatus> cancel(std::span<const TaskId> ids) override {
    return measured(metrics_, "cancel", [&] { return next_.cancel(ids); });
  }
  std::vector<Rescued> rescue(const RescueRequest& request) override {
    return measured(metrics_, "rescue", [&] { return next_.rescue(request); });
  }
  std::size_t requeue(std::span<const TaskId> ids) override {
    return measured(metrics_, "requeue", [&] { return next_.requeue(ids); });
  }
  std::size_t discard(std::span<const TaskId> ids) override {
    return measured(metrics_, "discard", [&] { return next_.discard(ids); });
  }
  std::vector<Finish> finished(std::span<const TaskId> ids) override {
    return measured(metrics_, "finished", [&] { return next_.finished(ids); });
  }
  void pause(std::span<const std::string> queues) override {
    measured(metrics_, "pause", [&] { next_.pause(queues); });
  }
  void resume(std::span<const std::string> queues) override {
    measured(metrics_, "resume", [&] { next_.resume(queues); });
  }

 private:
  struct Attempt {
    std::string type;
    std::string queue;
    bool counted = false;  ///< as started
  };

  TaskQueue& next_;
  Metrics& metrics_;
  std::mutex mutex_;
  StorageClock clock_;
  std::unordered_map<TaskId, Attempt> held_;  ///< claimed here and not settled yet
};

class ObservedEngine::Catalog final : public TaskCatalog {
 public:
  Catalog(TaskCatalog& next, Metrics& metrics) : next_{next}, metrics_{metrics} {}

  std::optional<TaskRecord> find(TaskId id) override {
    return measured(metrics_, "find", [&] { return next_.find(id); });
  }
  std::vector<TaskRecord> find_all(std::span<const TaskId> ids) override {
    return measured(metrics_, "find_all", [&] { return next_.find_all(ids); });
  }
  TaskPage list(const TaskFilter& filter, const PageRequest& request) override {
    return measured(metrics_, "list", [&] { return next_.list(filter, request); });
  }
  TaskStats stats() override {
    return measured(metrics_, "stats", [&] { return next_.stats(); });
  }
  EndedTasks ended(Timestamp since, std::size_t latest) override {
    return measured(metrics_, "ended", [&] { return next_.ended(since, latest); });
  }

 private:
  TaskCatalog& next_;
  Metrics& metrics_;
};

class ObservedEngine::Storage final : public TaskStorage {
 public:
  Storage(TaskStorage& next, Metrics& metrics) : next_{next}, metrics_{metrics} {}

  void save(const TaskData& task) override {
    measured(metrics_, "save", [&] { next_.save(task); });
  }
  std::optional<TaskData> load(TaskId id) override {
    return measured(metrics_, "load", [&] { return next_.load(id); });
  }
  void update_status(TaskId id, TaskStatus status,
                     std::optional<std::int64_t> expected_version) override {
    measured(metrics_, "update_status", [&] { next_.update_status(id, status, expected_version); });
  }
  void remove(TaskId id) override {
    measured(metrics_, "remove", [&] { next_.remove(id); });
  }
  std::size_t delete_expired_tasks(Timestamp before) override {
    return measured(metrics_, "delete_expired_tasks",
                    [&] { return next_.delete_expired_tasks(before); });
  }

 private:
  TaskStorage& next_;
  Metrics& metrics_;
};

class ObservedEngine::Registry final : public WorkerRegistry {
 public:
  Registry(WorkerRegistry& next, Metrics& metrics) : next_{next}, metrics_{metrics} {}

  void beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) override {
    measured(metrics_, "beat", [&] { next_.beat(worker, forget_after); });
  }
  void retire(const std::string& worker) override {
    measured(metrics_, "retire", [&] { next_.retire(worker); });
  }
  std::vector<WorkerInfo> workers() override {
    return measured(metrics_, "workers", [&] { return next_.workers(); });
  }

 private:
  WorkerRegistry& next_;
  Metrics& metrics_;
};

ObservedEngine::ObservedEngine(std::unique_ptr<Engine> next, Metrics& metrics)
    : next_{std::move(next)},
      metrics_{metrics},
      storage_{std::make_unique<Storage>(next_->storage(), metrics)},
      queue_{std::make_unique<Queue>(*next_, metrics)},
      catalog_{std::make_unique<Catalog>(next_->catalog(), metrics)},
      registry_{std::make_unique<Registry>(next_->workers(), metrics)} {}

ObservedEngine::~ObservedEngine() = default;

TaskStorage& ObservedEngine::storage() noexcept { return *storage_; }
TaskQueue& ObservedEngine::queue() noexcept { return *queue_; }
TaskCatalog& ObservedEngine::catalog() noexcept { return *catalog_; }
WorkerRegistry& ObservedEngine::workers() noexcept { return *registry_; }

Middleware ObservedEngine::middleware() {
  return [next = measuring_middleware(metrics_), &queue = *queue_](
             const Envelope& envelope, TaskContext& context, const Next& handler) {
    queue.begin(context.id());
    return next(envelope, context, handler);
  };
}

Middleware measuring_middleware(Metrics& metrics) {
  return [&metrics](const Envelope& envelope, TaskContext& context, const Next& next) {
    metrics.count(Metrics::TaskEvent::started, envelope.type(), context.queue());
    const auto begin = Steady::now();
    const auto record = [&] {
      metrics.observe_duration(
          envelope.type(), context.queue(),
          std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begin));
    };
    try {
      std::string result = next();
      record();
      return result;
    } catch (...) {
      record();
      throw;
    }
  };
}

}  // namespace errand::http
