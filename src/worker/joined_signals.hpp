#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "errand/signals.hpp"

namespace errand::detail {

/// The signals of an engine, if there is one, and of transports. Their queues are not the engine's:
/// of messages it is only told that there are some.
class JoinedSignals final : public Signals {
 public:
  JoinedSignals(Signals* engine, std::vector<Signals*> transports)
      : engine_{engine}, transports_{std::move(transports)} {}

  [[nodiscard]] Subscription subscribe(Signal signal, Callback callback) override {
    auto parts = std::make_shared<std::vector<Subscription>>();
    for (Signals* transport : transports_) {
      parts->push_back(
          transport->subscribe(signal, [callback](const SignalEvent&) { callback({}); }));
    }
    if (engine_ != nullptr) parts->push_back(engine_->subscribe(signal, std::move(callback)));
    return Subscription{[parts] { parts->clear(); }};
  }

  [[nodiscard]] bool reaches_other_processes() const noexcept override {
    const auto reaches = [](const Signals* s) { return s->reaches_other_processes(); };
    return (engine_ == nullptr || reaches(engine_)) && std::ranges::all_of(transports_, reaches);
  }

 private:
  Signals* engine_;
  std::vector<Signals*> transports_;
};

}  // namespace errand::detail
