#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "errand/export.hpp"
#include "errand/task_id.hpp"

namespace errand {

struct Finish;

enum class Signal : std::uint8_t {
  work,          ///< a task has become claimable, or a queue was resumed
  completion,    ///< a task has become final or was removed
  cancellation,  ///< a running task was asked to stop
};
inline constexpr std::size_t kSignalCount = 3;

/// What changed, where that is known. Valid during the call.
struct SignalEvent {
  std::span<const TaskId> tasks{};        ///< these; empty: any may have
  std::span<const std::string> queues{};  ///< of `work`, in these; empty: in any
  /// Of `completion`, where known: what became of the only task, when the signal was sent.
  const Finish* finish = nullptr;
};

/// Ends a subscription when destroyed: the callback is not running and will not run again.
class ERRAND_EXPORT Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_{std::move(end)} {}
  Subscription(Subscription&& other) noexcept : end_{std::exchange(other.end_, nullptr)} {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      reset();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }
  ~Subscription() { reset(); }

  explicit operator bool() const noexcept { return end_ != nullptr; }

  void reset() {
    if (auto end = std::exchange(end_, nullptr)) end();
  }

 private:
  std::function<void()> end_;
};

/// Push: tells a process soon after something changed, in it or in another one.
///
/// A hint, not a log. A signal may come late, twice or for nothing, and may be lost with the
/// process that should have sent it; whoever waits also looks by itself every second or so.
/// A change made before subscribe() returned is not told.
class ERRAND_EXPORT Signals {
 public:
  /// Called by the engine's threads or the thread that made the change; must return soon and must
  /// not call the engine.
  using Callback = std::function<void(const SignalEvent& event)>;

  virtual ~Signals() = default;

  [[nodiscard]] virtual Subscription subscribe(Signal signal, Callback callback) = 0;

  /// False while signals of other processes cannot arrive here: whoever waits polls faster. Takes
  /// no lock.
  [[nodiscard]] virtual bool reaches_other_processes() const noexcept = 0;
};

}  // namespace errand
