#pragma once

#include <array>

#include "support/forwarding_engine.hpp"
#include "support/milestone.hpp"

namespace errand::testing {

/// Counts the calls of the queue, those that throw too.
class CountingEngine : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  [[nodiscard]] std::size_t calls(Call call) { return of(call).times(); }

  /// Waits until there were that many. False: there were not.
  [[nodiscard]] bool was_called(Call call, std::size_t times = 1) {
    return of(call).was_reached(times);
  }

 protected:
  void before(Call call) override { of(call).reach(); }

 private:
  Milestone& of(Call call) { return counts_[static_cast<std::size_t>(call)]; }

  std::array<Milestone, kCalls> counts_;
};

}  // namespace errand::testing
