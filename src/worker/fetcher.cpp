#include "worker/fetcher.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "worker/storage_trouble.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;

/// How often to look for work although no signal came.
constexpr milliseconds kFallbackPoll{1000};

/// What was handed over may still be on its way for so long after the storage told of it.
constexpr milliseconds kOnItsWay{100};

}  // namespace

void Fetcher::run() {
  milliseconds after_error = kFirstPauseAfterError;
  while (begin()) {
    resolve_doubt();
    const std::size_t wanted = claimable(held_.wanted());
    if (wanted == 0) {
      set_all_claimed(false);                       // nobody looked
      if (claimable(held_.wanted()) > 0) continue;  // who made room before that told nobody
      if (limit_used_up() && held_.empty()) return end_(WorkerReport::Reason::limit);
      wait(longest_wait());
      continue;
    }
    const bool held_nothing = held_.empty();
    const auto since = HeldTasks::Steady::now();
    ClaimBatch batch;
    try {
      batch = claim(wanted);
      after_error = kFirstPauseAfterError;
    } catch (const std::exception& error) {
      claim_in_doubt_ = claim_in_doubt_ || is_in_doubt(error);
      if (options_.drain && is_useless(error)) throw;
      logger_.error(fmt::format("cannot claim tasks, trying again in {} ms: {}",
                                after_error.count(), error.what()));
      pause(after_error);
      after_error = std::min(after_error * 2, kLongestPauseAfterError);
      continue;
    }
    const std::size_t claimed = batch.claims.size();
    claimed_ += static_cast<std::int64_t>(claimed);
    if (claimed > 0) held_.add(std::move(batch.claims), since);
    if (batch.in_doubt) {
      claim_in_doubt_ = true;
      set_all_claimed(false);
      continue;
    }
    // Where one suspect is held, others may wait although the batch is not full.
    set_all_claimed(claimed < wanted && !held_.holds_suspect());
    if (claimed >= wanted) continue;
    const bool look_again = batch.next_due && batch.next_due->count() == 0;
    if (claimed == 0 && held_nothing && options_.drain && !look_again && !claim_in_doubt_) {
      // What a dead worker left is to be drained, too.
      if (rescue_()) continue;
      return end_(WorkerReport::Reason::drained);
    }
    wait(std::min(longest_wait(), batch.next_due.value_or(kFallbackPoll)));
  }
}

void Fetcher::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  wakes_.notify_all();
}

void Fetcher::stand_by() {
  // What is handed over is not counted before it is there: a limit would be passed, and what is
  // drained is what is there already.
  if (options_.limit != 0 || options_.drain) return;
  standing_by_ = source_.queue->stand_by(worker_, [this](Claim claim) {
    std::vector<Claim> claims;
    claims.push_back(std::move(claim));
    // When its lease began is not known here: the next heartbeat extends it.
    held_.add(std::move(claims), HeldTasks::Steady::time_point::min());
  });
}

void Fetcher::stop_standing_by(bool hand_back) {
  standing_by_.reset();
  if (!hand_back || (!was_standing_by_ && !claim_in_doubt_)) return;
  try {
    hand_back_unknown();
  } catch (const std::exception& error) {
    logger_.error(fmt::format("cannot hand tasks back: {}", error.what()));
  }
}

void Fetcher::wake() {
  {
    const std::lock_guard lock{mutex_};
    again_ = true;
  }
  wakes_.notify_one();
}

void Fetcher::on_room() {
  if (all_claimed() && !options_.drain && options_.limit == 0) return;
  wake();
}

bool Fetcher::all_claimed() {
  const std::lock_guard lock{mutex_};
  return all_claimed_;
}

ClaimBatch Fetcher::claim(std::size_t wanted) {
  const ClaimRequest request{.queues = options_.queues,
                             .limit = wanted,
                             .worker = worker_,
                             .lease = options_.lease,
                             .suspects = held_.holds_suspect() ? 0U : 1U,
                             .stands_by = held_.free_handlers()};
  was_standing_by_ = was_standing_by_ || (standing_by_ && request.stands_by > 0);
  return source_.queue->claim(request);
}

void Fetcher::resolve_doubt() {
  if (!claim_in_doubt_ || HeldTasks::Steady::now() < next_hand_back_) return;
  try {
    hand_back_unknown();
    pause_between_hand_backs_ = kFirstPauseAfterError;
  } catch (const std::exception& error) {
    if (options_.drain && is_useless(error)) throw;
    logger_.error(fmt::format("cannot hand back what a lost answer gave, trying again in {} ms: {}",
                              pause_between_hand_backs_.count(), error.what()));
    next_hand_back_ = HeldTasks::Steady::now() + pause_between_hand_backs_;
    pause_between_hand_backs_ = std::min(pause_between_hand_backs_ * 2, kLongestPauseAfterError);
  }
}

void Fetcher::hand_back_unknown() {
  std::vector<Lease> unknown = source_.queue->held_by(worker_);
  // In this order: what has been claimed is among those held here.
  const auto erase_known = [&] {
    const std::vector<Lease> held = held_.leases();
    std::erase_if(unknown, [&](const Lease& lease) {
      return std::ranges::any_of(held, [&](const Lease& known) { return known.id == lease.id; });
    });
  };
  erase_known();
  if (standing_by_ && !unknown.empty()) {
    pause(kOnItsWay);
    erase_known();
  }
  std::vector<Settlement> settlements;
  settlements.reserve(unknown.size());
  for (const Lease& lease : unknown) settlements.push_back({lease, Released{}});
  source_.queue->settle(settlements);
  claim_in_doubt_ = false;
  if (!unknown.empty()) {
    logger_.warning(fmt::format("handed back {} {} that came for this worker and did not reach it",
                                unknown.size(), unknown.size() == 1 ? "task" : "tasks"));
  }
}

milliseconds Fetcher::longest_wait() const {
  return source_.signals->reaches_other_processes() ? kFallbackPoll : options_.poll_interval;
}

std::size_t Fetcher::claimable(std::size_t wanted) const {
  if (options_.limit == 0) return wanted;
  const std::int64_t left = options_.limit - claimed_ + released_.load();
  return std::min(wanted, static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
}

bool Fetcher::begin() {
  const std::lock_guard lock{mutex_};
  again_ = false;
  return !stopped_;
}

void Fetcher::set_all_claimed(bool all) {
  const std::lock_guard lock{mutex_};
  all_claimed_ = all;
}

void Fetcher::wait(milliseconds timeout) {
  std::unique_lock lock{mutex_};
  wakes_.wait_for(lock, timeout, [this] { return again_ || stopped_; });
}

void Fetcher::pause(milliseconds time) {
  std::unique_lock lock{mutex_};
  wakes_.wait_for(lock, time, [this] { return stopped_; });
}

}  // namespace errand::detail
