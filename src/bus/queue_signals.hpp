#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "errand/signals.hpp"

namespace errand::detail {

/// Those signals of a storage that may be about one of its queues: what comes to the others wakes
/// nobody in vain.
class QueueSignals final : public Signals {
 public:
  /// `all` must outlive it. `others_tell`: whether programs of other makers send them, too.
  QueueSignals(Signals& all, std::string queue, bool others_tell)
      : all_{all}, queue_{std::move(queue)}, others_tell_{others_tell} {}

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override {
    return all_.subscribe(signal, [this, callback = std::move(callback)](const SignalEvent& event) {
      if (concerns(event)) callback(event);
    });
  }

  [[nodiscard]] bool reaches_other_processes() const noexcept override {
    return others_tell_ && all_.reaches_other_processes();
  }

 private:
  [[nodiscard]] bool concerns(const SignalEvent& event) const {
    return event.queues.empty() || std::ranges::find(event.queues, queue_) != event.queues.end();
  }

  Signals& all_;
  const std::string queue_;
  const bool others_tell_;
};

}  // namespace errand::detail
