#include "http/observed_engine.hpp"

#include <algorithm>
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

}  // namespace

class ObservedEngine::Queue final : public TaskQueue {
 public:
  Queue(TaskQueue& next, Metrics& metrics) : next_{next}, metrics_{metrics} {}

  std::size_t submit(std::span<const NewTask> tasks) override {
    const std::size_t stored = measured(metrics_, "submit", [&] { return next_.submit(tasks); });
    metrics_.observe_batch(Metrics::Batch::submit, tasks.size());
    for (const NewTask& task : tasks) {
      metrics_.count(Metrics::TaskEvent::submitted, task.envelope.type(), task.queue);
    }
    return stored;
  }
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
    const Timestamp now = system_clock().now();
    const std::lock_guard lock{mutex_};
    for (const Claim& claim : batch.claims) {
      held_.insert_or_assign(claim.lease.id, Kind{claim.envelope.type(), claim.queue});
      if (claim.attempt == 1) {
        metrics_.observe_wait(claim.envelope.type(), claim.queue,
                              std::max(now - claim.submitted_at, std::chrono::microseconds{0}));
      }
    }
    return batch;
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
      metrics_.count(event_of(settlements[i].outcome), held.mapped().type, held.mapped().queue);
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
  struct Kind {
    std::string type;
    std::string queue;
  };

  TaskQueue& next_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::unordered_map<TaskId, Kind> held_;  ///< claimed here and not settled yet
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

 private:
  TaskCatalog& next_;
  Metrics& metrics_;
};

ObservedEngine::ObservedEngine(std::unique_ptr<Engine> next, Metrics& metrics)
    : next_{std::move(next)},
      queue_{std::make_unique<Queue>(next_->queue(), metrics)},
      catalog_{std::make_unique<Catalog>(next_->catalog(), metrics)} {}

ObservedEngine::~ObservedEngine() = default;

TaskQueue& ObservedEngine::queue() noexcept { return *queue_; }
TaskCatalog& ObservedEngine::catalog() noexcept { return *catalog_; }

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
