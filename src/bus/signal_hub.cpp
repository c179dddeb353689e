#include "bus/signal_hub.hpp"

namespace errand::detail {

Subscription SignalHub::subscribe(Signal signal, Signals::Callback callback) {
  const std::lock_guard lock{mutex_};
  Callbacks& list = callbacks_[static_cast<std::size_t>(signal)];
  const auto place = list.insert(list.end(), std::move(callback));
  return Subscription{[this, &list, place] {
    const std::lock_guard end_lock{mutex_};
    list.erase(place);
  }};
}

void SignalHub::deliver(Signal signal, const SignalEvent& event) {
  const std::lock_guard lock{mutex_};
  for (const Signals::Callback& callback : callbacks_[static_cast<std::size_t>(signal)]) {
    callback(event);
  }
}

}  // namespace errand::detail
