#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "errand/engine.hpp"
#include "errand/handler.hpp"

#include "http/metrics.hpp"

namespace errand::http {

/// An engine in front of another one, which it owns: passes every call on and counts it. What a
/// worker does with it shows in the metrics without the worker's help.
class ObservedEngine final : public Engine {
 public:
  /// `metrics` must outlive it.
  ObservedEngine(std::unique_ptr<Engine> next, Metrics& metrics);
  ~ObservedEngine() override;

  EngineKind kind() const noexcept override { return next_->kind(); }
  Timestamp now() override { return next_->now(); }
  std::chrono::milliseconds ttl() const noexcept override { return next_->ttl(); }
  TaskStorage& storage() noexcept override;
  TaskQueue& queue() noexcept override;
  TaskCatalog& catalog() noexcept override;
  WorkerRegistry& workers() noexcept override;
  Signals& signals() noexcept override { return next_->signals(); }
  Schema& schema() noexcept override { return next_->schema(); }
  std::vector<Finding> diagnose() override { return next_->diagnose(); }

  /// For the handlers of a worker on this engine: counts attempts as they begin and measures how
  /// long they take. The engine must outlive them.
  [[nodiscard]] Middleware middleware();

 private:
  class Storage;
  class Queue;
  class Catalog;
  class Registry;

  std::unique_ptr<Engine> next_;
  Metrics& metrics_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Registry> registry_;
};

/// The same where there is no engine, as for messages of transports. `metrics` must outlive the
/// handlers.
[[nodiscard]] Middleware measuring_middleware(Metrics& metrics);

}  // namespace errand::http
