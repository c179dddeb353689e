#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "errand/engine.hpp"
#include "errand/tasks.hpp"

namespace errand::detail {

/// How long a read is put off so that it serves more of the `waiting` futures at once: not at all
/// for a few, the whole poll interval from 5,000 on.
[[nodiscard]] std::chrono::microseconds read_gap(std::size_t waiting,
                                                 std::chrono::milliseconds poll_interval) noexcept;

/// Waits for all futures of a client: one thread, one read for as many of them as possible.
/// Thread-safe.
class CompletionWaiter {
 public:
  /// Gets the finish, or the reason why there will be none.
  using Callback = std::function<void(const Finish*, std::exception_ptr)>;
  using Ticket = std::uint64_t;
  using Steady = std::chrono::steady_clock;

  CompletionWaiter(Engine& engine, WaitOptions options);
  ~CompletionWaiter();
  CompletionWaiter(const CompletionWaiter&) = delete;
  CompletionWaiter& operator=(const CompletionWaiter&) = delete;

  /// Whose thread calls a callback.
  enum class By : std::uint8_t {
    waiter,   ///< the waiter's: the callback may do what it wants
    whoever,  ///< that, or whichever hears of the finish first: it returns soon and calls no engine
  };

  struct Added {
    Ticket ticket;
    bool looks;  ///< false: only once there is a signal, or look_for() is called
  };

  /// Calls `callback` once, when the task is finished, expired or unknown. A task that was
  /// submitted after the last signal is not looked for at once: its own will come.
  Added add(TaskId id, Callback callback, By by = By::waiter, Steady::time_point submitted = {});

  void look_for(TaskId id);

  /// True: the callback is not called any more. False: it was called, or is about to be.
  bool remove(TaskId id, Ticket ticket);

 private:
  struct Entry {
    Ticket ticket;
    Callback callback;
    By by;
  };

  void start();
  void run();
  void on_signal(const SignalEvent& event);
  /// Those of a task that need not wait for the waiter's thread. Under the lock.
  [[nodiscard]] std::vector<Entry> take_by_whoever(TaskId id);

  /// The ids to ask for next; empty: stop. Blocks until there is a reason to ask.
  [[nodiscard]] std::vector<TaskId> next_question();
  void answer(std::span<const Finish> finishes);
  void give_up(const std::exception_ptr& error);

  Engine& engine_;
  const WaitOptions options_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  Ticket last_ticket_ = 0;
  std::unordered_map<TaskId, std::vector<Entry>> waiting_;
  std::unordered_set<TaskId> to_ask_;  ///< new here, or named by a signal
  bool ask_all_ = false;               ///< a signal did not say which
  Steady::time_point last_signal_{};   ///< of any task; or when they began to be heard
  Steady::time_point last_read_{};
  Steady::time_point last_full_read_{};

  std::once_flag started_;  ///< with the first future
  Subscription subscription_;
  std::thread thread_;
};

}  // namespace errand::detail
