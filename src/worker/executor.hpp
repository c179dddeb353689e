#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <variant>

#include "errand/handler.hpp"
#include "errand/logger.hpp"
#include "errand/task_queue.hpp"

namespace errand::detail {

/// Why a running task was asked to stop. The first reason stays.
enum class StopReason : std::uint8_t { none, cancel, lease_lost, shutdown };

class HeldTasks;

/// A claimed task in a worker's hands, from its claim to its settlement.
class HeldTask {
 public:
  explicit HeldTask(Claim claim) : claim_{std::move(claim)} {}

  [[nodiscard]] const Claim& claim() const noexcept { return claim_; }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] StopReason stop_reason() const noexcept { return reason_; }

  void ask_to_stop(StopReason reason);

  void set_progress(Progress progress);
  /// The newest progress not taken yet.
  [[nodiscard]] std::optional<Progress> take_progress();
  /// What was taken could not be stored: it counts again, unless there is a newer one.
  void give_progress_back(Progress progress);

 private:
  friend class HeldTasks;
  enum class Stage : std::uint8_t { buffered, running, ended, dropped };

  Claim claim_;
  // HeldTasks' own, under its lock.
  Stage stage_ = Stage::buffered;
  std::chrono::steady_clock::time_point held_since_{};  ///< no later than its lease
  std::chrono::steady_clock::time_point since_{};       ///< when it was buffered, or began to run

  std::stop_source stop_;
  std::atomic<StopReason> reason_ = StopReason::none;
  std::mutex progress_mutex_;
  std::optional<Progress> progress_;
};

/// The attempt is over, and there is nothing to settle: its handler completed the task in a
/// transaction of its own, or found out there that the lease is lost.
enum class EndedByHandler : std::uint8_t { completed, lease_lost };

using AttemptResult = std::variant<Outcome, EndedByHandler>;

/// Runs one attempt and says how it ended. Whatever the handler throws ends here.
class Executor {
 public:
  Executor(const Handlers& handlers, Logger& logger) : handlers_{handlers}, logger_{logger} {}

  [[nodiscard]] AttemptResult run(HeldTask& task) const noexcept;

 private:
  [[nodiscard]] AttemptResult attempt(HeldTask& task) const;
  [[nodiscard]] Outcome stopped(const HeldTask& task) const;

  const Handlers& handlers_;
  Logger& logger_;
};

}  // namespace errand::detail
