#include "worker/settler.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "errand/errors.hpp"

#include "worker/storage_trouble.hpp"

namespace errand::detail {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

void Settler::run() {
  constexpr auto kNever = Steady::time_point::max();
  milliseconds pause = kFirstPauseAfterError;
  auto next_try = kNever;
  while (true) {
    std::optional<std::vector<Settlement>> ended = held_.take_ended(next_try);
    if (ended && !ended->empty()) settle({std::move(*ended)});
    if (unsettled_.empty()) {
      if (!ended) return;
      pause = kFirstPauseAfterError;
      next_try = kNever;
      continue;
    }
    if (!ended && !wait_at_the_end_(pause)) return;
    if (ended && Steady::now() < next_try) {
      if (next_try == kNever) next_try = Steady::now() + pause;
      continue;
    }
    settle_unsettled();
    pause = std::min(pause * 2, kLongestPauseAfterError);
    next_try = Steady::now() + pause;
  }
}

bool Settler::settle(Unsettled part) {
  try {
    settled_(part.batch, queue_.settle(part.batch), part.in_doubt);
    held_.forget(part.batch);
    return true;
  } catch (const ValidationException& error) {
    if (part.batch.size() > 1) return settle_each(part);
    refuse(part, error.what());
    return true;
  } catch (const std::exception& error) {
    // Repeating is safe even in doubt: what was settled the first time reports a lost lease.
    part.in_doubt = part.in_doubt || is_in_doubt(error);
    logger_.error(
        fmt::format("cannot store {} outcomes, trying again: {}", part.batch.size(), error.what()));
    unsettled_.push_back(std::move(part));
    return false;
  }
}

void Settler::settle_unsettled() {
  bool storage_answers = true;
  for (Unsettled& part : std::exchange(unsettled_, {})) {
    if (!storage_answers) {
      unsettled_.push_back(std::move(part));
      continue;
    }
    if (settle(std::move(part)) || unsettled_.back().batch.size() == 1) continue;
    const Unsettled failed = std::move(unsettled_.back());
    unsettled_.pop_back();
    storage_answers = settle_each(failed);
  }
}

bool Settler::settle_each(const Unsettled& part) {
  std::size_t failures = 0;
  for (std::size_t i = 0; i < part.batch.size(); ++i) {
    const bool settled = settle({{part.batch[i]}, part.in_doubt});
    failures = settled ? 0 : failures + 1;
    if (failures == 2 && i == 1) {
      const std::vector<Settlement> rest{part.batch.begin() + 2, part.batch.end()};
      if (!rest.empty()) unsettled_.push_back({rest, part.in_doubt});
      return false;
    }
  }
  return true;
}

/// The storage will never take this outcome. A result becomes a failure that says so; anything
/// else is dropped: its lease runs out, and the task is rescued.
void Settler::refuse(const Unsettled& part, const std::string& reason) {
  const Settlement& settlement = part.batch.front();
  logger_.error(fmt::format("the storage refuses the outcome of task {}: {}",
                            settlement.lease.id.to_string(), reason));
  if (!std::holds_alternative<Completed>(settlement.outcome)) return held_.forget(part.batch);
  ExceptionData error{.class_name = "errand::ValidationException",
                      .message = "the storage refuses the result: " + reason,
                      .file = {},
                      .trace = {},
                      .previous = nullptr};
  settle({{Settlement{settlement.lease, Failed{std::move(error)}}}, part.in_doubt});
}

}  // namespace errand::detail
