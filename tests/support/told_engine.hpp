#pragma once

#include <utility>

#include "errand/task_queue.hpp"

#include "bus/signal_hub.hpp"
#include "support/counting_engine.hpp"

namespace errand::testing {

/// Whose signals the test raises.
class ToldEngine final : public CountingEngine {
 public:
  using CountingEngine::CountingEngine;
  Signals& signals() noexcept override { return signals_; }
  void tell(const Finish& finish) {
    signals_.hub.deliver(Signal::completion, {.tasks = {&finish.id, 1}, .finish = &finish});
  }

 private:
  struct ToldSignals final : Signals {
    Subscription subscribe(Signal signal, Callback callback) override {
      return hub.subscribe(signal, std::move(callback));
    }
    bool reaches_other_processes() const noexcept override { return true; }
    detail::SignalHub hub;
  };
  ToldSignals signals_;
};

}  // namespace errand::testing
