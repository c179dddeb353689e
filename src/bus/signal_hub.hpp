#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>

#include "errand/signals.hpp"

namespace errand::detail {

/// The subscribers of one engine. Thread-safe. Callbacks run one at a time under the hub's lock,
/// which is what lets Subscription promise that none runs after its end.
class SignalHub {
 public:
  [[nodiscard]] Subscription subscribe(Signal signal, Signals::Callback callback);

  void deliver(Signal signal, std::span<const TaskId> tasks);

 private:
  using Callbacks = std::list<Signals::Callback>;

  std::mutex mutex_;
  std::array<Callbacks, 3> callbacks_;
};

}  // namespace errand::detail
