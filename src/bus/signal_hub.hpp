#pragma once

#include <array>
#include <list>
#include <mutex>

#include "errand/signals.hpp"

namespace errand::detail {

/// The subscribers of one engine. Thread-safe. Callbacks run one at a time under the hub's lock,
/// which is what lets Subscription promise that none runs after its end.
class SignalHub {
 public:
  [[nodiscard]] Subscription subscribe(Signal signal, Signals::Callback callback);

  void deliver(Signal signal, const SignalEvent& event);

 private:
  using Callbacks = std::list<Signals::Callback>;

  std::mutex mutex_;
  std::array<Callbacks, kSignalCount> callbacks_;
};

}  // namespace errand::detail
