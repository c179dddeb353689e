#pragma once

#include <atomic>
#include <chrono>

#include "errand/clock.hpp"

namespace errand::testing {

/// A clock that stands still until it is told to move. Thread-safe.
class FakeClock final : public Clock {
 public:
  /// 2025-12-01T10:00:00Z
  static constexpr Timestamp kStart{std::chrono::seconds{1'764'583'200}};

  explicit FakeClock(Timestamp start = kStart) : now_{start} {}

  [[nodiscard]] Timestamp now() const override { return now_.load(); }

  void set(Timestamp now) { now_ = now; }

  void advance(std::chrono::microseconds by) {
    Timestamp before = now_.load();
    while (!now_.compare_exchange_weak(before, before + by)) continue;
  }

 private:
  std::atomic<Timestamp> now_;
};

}  // namespace errand::testing
