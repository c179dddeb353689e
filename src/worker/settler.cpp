#include "worker/settler.hpp"

#include <algorithm>
#include <fmt/format.h>
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
    if (ended && !ended->empty()) {
      if (auto left = settle({std::move(*ended)})) keep(*std::move(left));
    }
    if (all_is_settled()) {
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

void Settler::settle_here(Settlement settlement) {
  Unsettled part;
  part.batch.push_back(std::move(settlement));
  auto left = settle(std::move(part));
  if (!left) return;
  keep(*std::move(left));
  held_.call_settler();
}

std::optional<Settler::Unsettled> Settler::settle(Unsettled part) {
  try {
    settled_(part.batch, queue_.settle(part.batch), part.in_doubt);
    held_.forget(part.batch);
    return std::nullopt;
  } catch (const ValidationException& error) {
    if (part.batch.size() == 1) return refuse(part, error.what());
    settle_each(part);
    return std::nullopt;
  } catch (const std::exception& error) {
    // Repeating is safe even in doubt: what was settled the first time reports a lost lease.
    part.in_doubt = part.in_doubt || is_in_doubt(error);
    logger_.error(fmt::format("cannot store {} {}, trying again: {}", part.batch.size(),
                              part.batch.size() == 1 ? "outcome" : "outcomes", error.what()));
    return part;
  }
}

void Settler::settle_unsettled() {
  std::vector<Unsettled> parts;
  {
    const std::lock_guard lock{mutex_};
    parts.swap(unsettled_);
  }
  bool storage_answers = true;
  for (Unsettled& part : parts) {
    if (!storage_answers) {
      keep(std::move(part));
      continue;
    }
    auto left = settle(std::move(part));
    if (!left) continue;
    if (left->batch.size() == 1) {
      keep(*std::move(left));
    } else {
      storage_answers = settle_each(*left);
    }
  }
}

bool Settler::settle_each(const Unsettled& part) {
  std::size_t failures = 0;
  for (std::size_t i = 0; i < part.batch.size(); ++i) {
    auto left = settle({{part.batch[i]}, part.in_doubt});
    failures = left ? failures + 1 : 0;
    if (left) keep(*std::move(left));
    if (failures == 2 && i == 1) {
      const std::vector<Settlement> rest{part.batch.begin() + 2, part.batch.end()};
      if (!rest.empty()) keep({rest, part.in_doubt});
      return false;
    }
  }
  return true;
}

void Settler::keep(Unsettled part) {
  const std::lock_guard lock{mutex_};
  unsettled_.push_back(std::move(part));
}

bool Settler::all_is_settled() {
  const std::lock_guard lock{mutex_};
  return unsettled_.empty();
}

/// The storage will never take this outcome. A result becomes a failure that says so; anything
/// else is dropped: its lease runs out, and the task is rescued.
std::optional<Settler::Unsettled> Settler::refuse(const Unsettled& part,
                                                  const std::string& reason) {
  const Settlement& settlement = part.batch.front();
  logger_.error(fmt::format("the storage refuses the outcome of task {}: {}",
                            settlement.lease.id.to_string(), reason));
  if (!std::holds_alternative<Completed>(settlement.outcome)) {
    held_.forget(part.batch);
    return std::nullopt;
  }
  ExceptionData error{.class_name = "errand::ValidationException",
                      .message = "the storage refuses the result: " + reason,
                      .file = {},
                      .trace = {},
                      .previous = nullptr};
  return settle({{Settlement{settlement.lease, Failed{std::move(error)}}}, part.in_doubt});
}

}  // namespace errand::detail
