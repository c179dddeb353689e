#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "errand/engine.hpp"

#include "support/forwarding_queue.hpp"

namespace errand::testing {

/// An engine in front of another one, which it owns: all is passed on, the queue's calls with
/// before() and after() around them. Those may be called by many threads at once.
class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> next) : next_{std::move(next)}, queue_{*this} {}

  EngineKind kind() const noexcept override { return next_->kind(); }
  Timestamp now() override { return next_->now(); }
  std::chrono::milliseconds ttl() const noexcept override { return next_->ttl(); }
  TaskStorage& storage() noexcept override { return next_->storage(); }
  TaskQueue& queue() noexcept override { return queue_; }
  TaskCatalog& catalog() noexcept override { return next_->catalog(); }
  WorkerRegistry& workers() noexcept override { return next_->workers(); }
  Signals& signals() noexcept override { return next_->signals(); }
  Schema& schema() noexcept override { return next_->schema(); }
  std::vector<Finding> diagnose() override { return next_->diagnose(); }

  /// The one behind: undisturbed.
  [[nodiscard]] Engine& real() noexcept { return *next_; }

 protected:
  virtual void before(Call /*call*/) {}
  virtual void after(Call /*call*/) {}

 private:
  class Queue final : public ForwardingQueue {
   public:
    explicit Queue(ForwardingEngine& engine)
        : ForwardingQueue{&engine.next_->queue()}, engine_{engine} {}

   protected:
    void before(Call call) override { engine_.before(call); }
    void after(Call call) override { engine_.after(call); }

   private:
    ForwardingEngine& engine_;
  };

  std::unique_ptr<Engine> next_;
  Queue queue_;
};

}  // namespace errand::testing
