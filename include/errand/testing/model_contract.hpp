#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "errand/testing/contract_fixture.hpp"
#include "errand/testing/task_model.hpp"

namespace errand::testing {

/// Random operations on the engine and on the model: after each, both say the same.
class ModelContract : public EngineContract {
 protected:
  using HalfHours = TaskModel::HalfHours;

  void play(std::uint64_t seed, std::size_t steps) {
    random_.seed(seed);
    for (std::size_t step = 0; step < steps && !HasFailure(); ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      one_step();
      if (step % 100 == 99) compare_all();
    }
    compare_all();
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool one_in(std::size_t number) { return below(number) == 0; }
  HalfHours odd_half_hours() { return HalfHours{2 * static_cast<std::int64_t>(below(3)) + 1}; }
  HalfHours wait() { return one_in(2) ? HalfHours{0} : odd_half_hours(); }
  std::string queue_name() { return std::string(1, static_cast<char>('a' + below(3))); }

  void one_step() {
    const std::size_t operation = below(100);
    if (operation < 20) return submit_some();
    if (operation < 45) return claim_some();
    if (operation < 70) return settle_some();
    if (operation < 76) return extend_some();
    if (operation < 82) return cancel_some();
    if (operation < 88) return rescue_some();
    if (operation < 91) return requeue_some();
    if (operation < 93) return discard_some();
    if (operation < 94) return remove_one();
    if (operation < 96) return pause_or_resume();
    const HalfHours time{2 * (1 + static_cast<std::int64_t>(below(3)))};
    pass(time);
    model_.pass(time);
  }

  /// A task that was once submitted, or that nobody knows.
  TaskId any_id() {
    return ids_.empty() || one_in(20) ? TaskId::generate() : ids_[below(ids_.size())];
  }
  std::vector<TaskId> distinct_ids() {
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i <= below(4); ++i) ids.push_back(any_id());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  /// One that is likely to be held still.
  Lease any_lease() {
    const std::size_t recent = std::min<std::size_t>(leases_.size(), one_in(5) ? 1000 : 12);
    return leases_[leases_.size() - 1 - below(recent)];
  }

  void submit_some() {
    std::vector<NewTask> tasks;
    for (std::size_t i = 0; i <= below(5); ++i) {
      tasks.push_back(new_task(queue_name(), static_cast<int>(below(3)) - 1, wait()));
      if (one_in(10)) tasks.back().id = any_id();
    }
    std::vector<NewTask> fresh;
    for (const NewTask& task : tasks) {
      const bool seen = std::any_of(fresh.begin(), fresh.end(),
                                    [&](const NewTask& other) { return other.id == task.id; });
      if (model_.find(task.id) == nullptr && !seen) fresh.push_back(task);
    }
    queue().submit(tasks);
    for (const NewTask& task : fresh) {
      model_.submit(task, version(task.id));
      ids_.push_back(task.id);
    }
    for (const NewTask& task : tasks) compare(task.id);
  }

  void claim_some() {
    ClaimRequest request = claim_request(1 + below(6), {queue_name(), queue_name()});
    request.suspects = below(3);
    const HalfHours lease = odd_half_hours();
    request.lease = lease;
    const std::vector<TaskModel::Rank> others = model_.claimable(request, false);
    const std::vector<TaskModel::Rank> suspects = model_.claimable(request, true);
    const ClaimBatch batch = queue().claim(request);

    EXPECT_EQ(batch.claims.size(),
              std::min(request.limit, others.size() + std::min(request.suspects, suspects.size())));
    std::vector<TaskModel::Rank> claimed_others;
    std::vector<TaskModel::Rank> claimed_suspects;
    TaskModel::Rank last{};
    for (const Claim& claim : batch.claims) {
      const std::optional<TaskModel::Rank> rank = model_.rank(claim.lease.id, request);
      ASSERT_TRUE(rank.has_value()) << claim.lease.id.to_string() << " cannot be claimed";
      if (&claim != &batch.claims.front()) {
        EXPECT_LE(last, *rank) << "claims out of order";
      }
      last = *rank;
      (claim.crashes >= kSuspectCrashes ? claimed_suspects : claimed_others).push_back(*rank);
      model_.claim(claim.lease.id, lease);
      const TaskModel::Task& task = *model_.find(claim.lease.id);
      EXPECT_EQ(claim.lease.version, task.version);
      EXPECT_EQ(claim.attempt, task.attempts);
      EXPECT_EQ(claim.crashes, task.crashes);
      EXPECT_EQ(claim.queue, task.queue);
      EXPECT_EQ(claim.priority, task.priority);
      leases_.push_back(claim.lease);
      compare(claim.lease.id);
    }
    EXPECT_LE(claimed_suspects.size(), request.suspects);
    expect_the_best_of(others, claimed_others);
    expect_the_best_of(suspects, claimed_suspects);
  }

  static void expect_the_best_of(const std::vector<TaskModel::Rank>& claimable,
                                 const std::vector<TaskModel::Rank>& claimed) {
    ASSERT_LE(claimed.size(), claimable.size());
    EXPECT_TRUE(std::equal(claimed.begin(), claimed.end(), claimable.begin()))
        << "other tasks had to be claimed first";
  }

  Outcome any_outcome() {
    switch (below(6)) {
      case 0:
      case 1:
        return Completed{R"({"ok":true})"};
      case 2:
        return Failed{error_named("E")};
      case 3:
        return Retried{error_named("E"), wait()};
      case 4:
        return one_in(2) ? Released{} : Released{wait()};
      default:
        return CancelHonoured{};
    }
  }

  void settle_some() {
    if (leases_.empty()) return;
    std::vector<Settlement> settlements;
    std::vector<SettleStatus> expected;
    for (std::size_t i = 0; i <= below(4); ++i) {
      settlements.push_back({any_lease(), any_outcome()});
      expected.push_back(model_.settle(settlements.back()));
    }
    EXPECT_EQ(queue().settle(settlements), expected);
    for (const Settlement& settlement : settlements) compare(settlement.lease.id);
  }

  void extend_some() {
    if (leases_.empty()) return;
    const HalfHours by = odd_half_hours();
    const std::vector<Lease> leases{any_lease(), any_lease()};
    const std::vector<LeaseState> states = queue().extend(leases, by);
    ASSERT_EQ(states.size(), leases.size());
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const LeaseState expected = model_.extend(leases[i], by);
      EXPECT_EQ(states[i].lost, expected.lost);
      if (!expected.lost) {
        EXPECT_EQ(states[i].cancel_requested, expected.cancel_requested);
      }
      compare(leases[i].id);
    }
  }

  void cancel_some() {
    const std::vector<TaskId> ids = distinct_ids();
    std::vector<CancelStatus> expected;
    for (const TaskId id : ids) expected.push_back(model_.cancel(id));
    EXPECT_EQ(queue().cancel(ids), expected);
    for (const TaskId id : ids) compare(id);
  }

  void rescue_some() {
    const int max_crashes = kSuspectCrashes + static_cast<int>(below(3));
    const std::map<TaskId, TaskStatus> expected = model_.rescue(max_crashes);
    std::map<TaskId, TaskStatus> actual;
    for (const Rescued& rescued : rescue(max_crashes)) actual.emplace(rescued.id, rescued.status);
    EXPECT_EQ(actual, expected);
    for (const auto& [id, status] : expected) compare(id);
  }

  void requeue_some() {
    const std::vector<TaskId> ids = distinct_ids();
    const auto expected =
        std::count_if(ids.begin(), ids.end(), [&](TaskId id) { return model_.requeue(id); });
    EXPECT_EQ(queue().requeue(ids), static_cast<std::size_t>(expected));
    for (const TaskId id : ids) compare(id);
  }

  void discard_some() {
    const std::vector<TaskId> ids = distinct_ids();
    const auto expected =
        std::count_if(ids.begin(), ids.end(), [&](TaskId id) { return model_.discard(id); });
    EXPECT_EQ(queue().discard(ids), static_cast<std::size_t>(expected));
    for (const TaskId id : ids) compare(id);
  }

  void remove_one() {
    const TaskId id = any_id();
    model_.remove(id);
    storage().remove(id);
    compare(id);
  }

  void pause_or_resume() {
    const std::string name = queue_name();
    if (one_in(2)) {
      pause(name);
      model_.pause(name);
    } else {
      resume(name);
      model_.resume(name);
    }
  }

  void compare(TaskId id) { compare(id, catalog().find(id), model_.find(id)); }

  static void compare(TaskId id, const std::optional<TaskRecord>& actual,
                      const TaskModel::Task* expected) {
    SCOPED_TRACE("task " + id.to_string());
    ASSERT_EQ(actual.has_value(), expected != nullptr);
    if (!actual) return;
    EXPECT_EQ(actual->data.status, expected->status);
    EXPECT_EQ(actual->data.version, expected->version);
    EXPECT_EQ(actual->attempts, expected->attempts);
    EXPECT_EQ(actual->crashes, expected->crashes);
    if (expected->status == TaskStatus::running) {
      EXPECT_EQ(actual->cancel_requested, expected->cancel_requested);
    }
    EXPECT_NO_THROW(validate(actual->data));
  }

  void compare_all() {
    PageRequest request;
    request.page_size = 1'000'000;
    const TaskPage page = catalog().list({}, request);
    EXPECT_EQ(page.total, static_cast<std::int64_t>(model_.tasks().size()));
    StatusCounts counts{};
    for (const TaskRecord& task : page.items) {
      compare(task.data.id, task, model_.find(task.data.id));
      ++counts[static_cast<std::size_t>(task.data.status)];
    }
    EXPECT_EQ(catalog().stats().tasks, counts);
  }

  std::mt19937_64 random_;
  TaskModel model_;
  std::vector<TaskId> ids_;
  std::vector<Lease> leases_;
};

TEST_P(ModelContract, TheEngineAgreesWithThePlainestOne) { play(1, scaled(1500)); }
TEST_P(ModelContract, TheEngineAgreesWithThePlainestOneFromAnotherSeed) { play(2, scaled(1500)); }

}  // namespace errand::testing
