#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// How attempts end: each outcome, its traces, and what operators do with ended tasks.
class SettleContract : public EngineContract {};

TEST_P(SettleContract, ACompletedTaskHasItsResult) {
  const Claim claim = submit_and_claim();
  pass(std::chrono::hours{2});
  EXPECT_EQ(settle(claim.lease, Completed{R"({"sent":true})"}), SettleStatus::settled);
  const TaskRecord after = record(claim.lease.id);
  EXPECT_EQ(after.data.status, TaskStatus::completed);
  EXPECT_EQ(after.data.result, R"({"sent":true})");
  EXPECT_EQ(after.data.error, std::nullopt);
  EXPECT_EQ(after.data.version, claim.lease.version + 1);
  EXPECT_TRUE(is_about(after.data.started_at, now() - std::chrono::hours{2}));
  EXPECT_TRUE(is_about(after.data.completed_at, now()));
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.lease_expires_at, std::nullopt);
  EXPECT_EQ(after.history, std::nullopt);
  EXPECT_NO_THROW(validate(after.data));
  EXPECT_EQ(storage().load(claim.lease.id), after.data);
}

TEST_P(SettleContract, AFailedTaskHasItsWholeError) {
  ExceptionData error = error_named("app::PaymentRefused", "card \"4711\"\nrefused");
  error.code = 402;
  error.file = "payment.cpp";
  error.line = 17;
  error.trace = "charge\nhandle";
  error.previous = std::make_shared<ExceptionData>(error_named("std::system_error", "inner"));

  const Claim claim = submit_and_claim();
  pass(std::chrono::hours{2});
  EXPECT_EQ(settle(claim.lease, Failed{error}), SettleStatus::settled);
  const TaskRecord after = record(claim.lease.id);
  EXPECT_EQ(after.data.status, TaskStatus::failed);
  EXPECT_EQ(after.data.result, std::nullopt);
  ASSERT_TRUE(after.data.error.has_value());
  EXPECT_EQ(parse_exception_data(*after.data.error), error);
  EXPECT_EQ(after.data.version, claim.lease.version + 1);
  EXPECT_TRUE(is_about(after.data.started_at, now() - std::chrono::hours{2}));
  EXPECT_TRUE(is_about(after.data.completed_at, now()));
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.lease_expires_at, std::nullopt);
  EXPECT_EQ(history(claim.lease.id).size(), 1U);
  EXPECT_NO_THROW(validate(after.data));
}

TEST_P(SettleContract, ARetriedTaskWaitsForItsNextAttempt) {
  const Claim first = submit_and_claim();
  const std::chrono::hours wait{5};
  EXPECT_EQ(settle(first.lease, Retried{error_named("E"), wait}), SettleStatus::settled);
  const TaskRecord waiting = record(first.lease.id);
  EXPECT_EQ(waiting.data.status, TaskStatus::retrying);
  EXPECT_EQ(waiting.data.result, std::nullopt);
  EXPECT_EQ(waiting.data.error, std::nullopt);
  EXPECT_EQ(waiting.data.completed_at, std::nullopt);
  EXPECT_EQ(waiting.data.version, first.lease.version + 1);
  EXPECT_TRUE(is_about(waiting.available_at, now() + wait));
  EXPECT_EQ(waiting.attempts, 1);
  EXPECT_EQ(waiting.crashes, 0);
  EXPECT_EQ(waiting.lease_expires_at, std::nullopt);
  EXPECT_NO_THROW(validate(waiting.data));

  pass(wait - drift() - kInstant);
  EXPECT_TRUE(claim(10).empty());
  pass(drift() + kInstant);
  const Claim second = claim_one();
  EXPECT_EQ(second.lease.id, first.lease.id);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(second.crashes, 0);
  EXPECT_EQ(second.lease.version, first.lease.version + 2);
  EXPECT_TRUE(is_about(record(first.lease.id).data.started_at, now()));
}

TEST_P(SettleContract, AnAttemptThatHonoursACancellationIsCancelled) {
  const Claim claim = submit_and_claim();
  cancel(claim.lease.id);
  pass(std::chrono::hours{2});
  EXPECT_EQ(settle(claim.lease, CancelHonoured{}), SettleStatus::settled);
  const TaskRecord after = record(claim.lease.id);
  EXPECT_EQ(after.data.status, TaskStatus::cancelled);
  EXPECT_EQ(after.data.result, std::nullopt);
  EXPECT_EQ(after.data.error, std::nullopt);
  EXPECT_EQ(after.data.version, claim.lease.version + 1);
  EXPECT_TRUE(is_about(after.data.started_at, now() - std::chrono::hours{2}));
  EXPECT_TRUE(is_about(after.data.completed_at, now()));
  EXPECT_EQ(after.lease_expires_at, std::nullopt);
  EXPECT_NO_THROW(validate(after.data));
}

TEST_P(SettleContract, AReleasedTaskHasItsAttemptBack) {
  const Claim first = submit_and_claim();
  const std::chrono::hours wait{2};
  EXPECT_EQ(settle(first.lease, Released{wait}), SettleStatus::settled);
  const TaskRecord waiting = record(first.lease.id);
  EXPECT_EQ(waiting.data.status, TaskStatus::retrying);
  EXPECT_EQ(waiting.data.version, first.lease.version + 1);
  EXPECT_EQ(waiting.attempts, 0);
  EXPECT_EQ(waiting.crashes, 0);
  EXPECT_TRUE(is_about(waiting.available_at, now() + wait));
  EXPECT_EQ(waiting.lease_expires_at, std::nullopt);
  EXPECT_EQ(waiting.history, std::nullopt);
  EXPECT_NO_THROW(validate(waiting.data));

  pass(wait - drift() - kInstant);
  EXPECT_TRUE(claim(10).empty());
  pass(drift() + kInstant);
  EXPECT_EQ(claim_one().attempt, 1);
}

TEST_P(SettleContract, ATaskReleasedWithoutAWaitHasItsPlaceBack) {
  const Claim first = submit_and_claim();
  pass(kInstant);
  submit();
  pass(kInstant);
  settle(first.lease, Released{});
  EXPECT_EQ(claim_one().lease.id, first.lease.id);
}

TEST_P(SettleContract, ABatchOfSettlementsHasOneStatusEachInOrder) {
  const std::vector<TaskId> ids = submit_many(5);
  const std::vector<Claim> claims = claim(5);
  ASSERT_EQ(claims.size(), 5U);
  storage().remove(claims[1].lease.id);
  const std::vector<Settlement> settlements{
      {claims[0].lease, Completed{"0"}},
      {claims[1].lease, Completed{"1"}},
      {Lease{TaskId::generate(), 1}, Completed{"unknown"}},
      {claims[2].lease, Failed{error_named("E")}},
      {claims[3].lease, Retried{error_named("E"), std::chrono::hours{1}}},
      {Lease{claims[4].lease.id, claims[4].lease.version - 1}, Completed{"older version"}},
      {claims[4].lease, Released{}},
  };
  using S = SettleStatus;
  EXPECT_THAT(queue().settle(settlements),
              ::testing::ElementsAre(S::settled, S::lease_lost, S::lease_lost, S::settled,
                                     S::settled, S::lease_lost, S::settled));
  EXPECT_EQ(status(claims[0].lease.id), TaskStatus::completed);
  EXPECT_EQ(catalog().find(claims[1].lease.id), std::nullopt);
  EXPECT_EQ(status(claims[2].lease.id), TaskStatus::failed);
  EXPECT_EQ(status(claims[3].lease.id), TaskStatus::retrying);
  EXPECT_EQ(status(claims[4].lease.id), TaskStatus::retrying);
  EXPECT_EQ(task_count(), 4);
}

TEST_P(SettleContract, ALeaseTwiceInOneBatchSettlesOnce) {
  const Claim claim = submit_and_claim();
  const std::vector<Settlement> settlements{{claim.lease, Completed{"1"}},
                                            {claim.lease, Completed{"2"}}};
  EXPECT_THAT(queue().settle(settlements),
              ::testing::ElementsAre(SettleStatus::settled, SettleStatus::lease_lost));
  EXPECT_EQ(record(claim.lease.id).data.result, "1");
}

TEST_P(SettleContract, AThousandAttemptsEndInOneBatch) {
  submit_many(1000);
  std::vector<Settlement> settlements;
  for (const Claim& claim : claim(1000)) settlements.push_back({claim.lease, Completed{"{}"}});
  const std::vector<SettleStatus> statuses = queue().settle(settlements);
  ASSERT_EQ(statuses.size(), 1000U);
  EXPECT_THAT(statuses, ::testing::Each(SettleStatus::settled));
  EXPECT_EQ(catalog().list({{TaskStatus::completed}, {}, {}}, {}).total, 1000);
}

TEST_P(SettleContract, EachFailedAttemptIsKeptInTheHistory) {
  const TaskId id = submit();
  settle(claim_one().lease, Retried{error_named("First", "one"), {}});
  settle(claim_one().lease, Released{});
  settle(claim_one().lease, Failed{error_named("Second", "two")});
  const boost::json::array entries = history(id);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("attempt").as_int64(), 1);
  EXPECT_EQ(entries[0].at("worker").as_string(), "worker-1");
  EXPECT_EQ(entries[0].at("error").at("class").as_string(), "First");
  EXPECT_EQ(entries[0].at("error").at("message").as_string(), "one");
  EXPECT_TRUE(is_about(parse_iso8601(entries[0].at("at").as_string()), now()));
  EXPECT_EQ(entries[1].at("attempt").as_int64(), 2);
  EXPECT_EQ(entries[1].at("error").at("class").as_string(), "Second");
}

TEST_P(SettleContract, TheHistoryKeepsTheLastAttemptsOnly) {
  const TaskId id = submit();
  const int attempts = kMaxHistory + 5;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    const Claim claim = claim_one();
    EXPECT_EQ(claim.attempt, attempt);
    settle(claim.lease, Retried{error_named("E"), {}});
  }
  const boost::json::array entries = history(id);
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(kMaxHistory));
  EXPECT_EQ(entries.front().at("attempt").as_int64(), attempts - kMaxHistory + 1);
  EXPECT_EQ(entries.back().at("attempt").as_int64(), attempts);
}

TEST_P(SettleContract, RequeueingRunsFailedAndCancelledTasksAgainFromTheStart) {
  const TaskId failed = submit();
  crash_worker_of(failed);
  const Claim attempt = claim_one();
  queue().report_progress(std::vector{ProgressReport{attempt.lease, Progress{1, 2, "half"}}});
  settle(attempt.lease, Failed{error_named("E")});
  const Claim stopped = submit_and_claim();
  const TaskId cancelled = stopped.lease.id;
  cancel(cancelled);
  settle(stopped.lease, CancelHonoured{});
  const Claim waiting = submit_and_claim();
  const TaskId cancelled_later = waiting.lease.id;
  queue().report_progress(std::vector{ProgressReport{waiting.lease, Progress{1, 2, "half"}}});
  settle(waiting.lease, Released{});
  cancel(cancelled_later);

  pass(std::chrono::hours{2});
  for (const TaskId id : {failed, cancelled, cancelled_later}) {
    const std::int64_t before = version(id);
    EXPECT_EQ(queue().requeue({&id, 1}), 1U);
    const TaskRecord after = record(id);
    EXPECT_EQ(after.data.status, TaskStatus::pending);
    EXPECT_EQ(after.data.error, std::nullopt);
    EXPECT_EQ(after.data.started_at, std::nullopt);
    EXPECT_EQ(after.data.completed_at, std::nullopt);
    EXPECT_EQ(after.data.version, before + 1);
    EXPECT_EQ(after.attempts, 0);
    EXPECT_EQ(after.crashes, 0);
    EXPECT_FALSE(after.cancel_requested);
    EXPECT_EQ(after.progress, std::nullopt);
    EXPECT_NO_THROW(validate(after.data));

    const Claim again = claim_one();
    EXPECT_EQ(again.lease.id, id);
    EXPECT_EQ(again.attempt, 1);
    EXPECT_EQ(again.crashes, 0);
    EXPECT_FALSE(again.cancel_requested);
    EXPECT_EQ(settle(again.lease, Completed{"1"}), SettleStatus::settled);
  }
}

TEST_P(SettleContract, RequeueingLeavesOtherTasksAlone) {
  std::vector<TaskId> ids{TaskId::generate()};
  for (const TaskStatus status : {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled,
                                  TaskStatus::running, TaskStatus::retrying, TaskStatus::pending}) {
    ids.push_back(task_in(status));
  }
  std::vector<TaskData> before;
  for (std::size_t i = 1; i < ids.size(); ++i) before.push_back(record(ids[i]).data);
  EXPECT_EQ(queue().requeue(ids), 2U);
  for (const TaskData& task : before) {
    if (next(task.status, TaskEvent::requeue)) {
      EXPECT_EQ(status(task.id), TaskStatus::pending);
    } else {
      EXPECT_EQ(record(task.id).data, task) << to_string(task.status);
    }
  }
  EXPECT_EQ(task_count(), 6);
}

TEST_P(SettleContract, DiscardingDeletesFinalTasksOnly) {
  std::vector<TaskId> ids{TaskId::generate()};
  for (const TaskStatus status : {TaskStatus::completed, TaskStatus::failed, TaskStatus::cancelled,
                                  TaskStatus::running, TaskStatus::retrying, TaskStatus::pending}) {
    ids.push_back(task_in(status));
  }
  EXPECT_EQ(queue().discard(ids), 3U);
  EXPECT_EQ(task_count(), 3);
  EXPECT_EQ(catalog().find(ids[1]), std::nullopt);
  EXPECT_EQ(catalog().find(ids[2]), std::nullopt);
  EXPECT_EQ(catalog().find(ids[3]), std::nullopt);
  EXPECT_EQ(status(ids[4]), TaskStatus::running);
  EXPECT_EQ(status(ids[5]), TaskStatus::retrying);
  EXPECT_EQ(status(ids[6]), TaskStatus::pending);
  EXPECT_EQ(queue().discard(ids), 0U);
}

TEST_P(SettleContract, ProgressIsShownWhileTheTaskRuns) {
  const Claim claim = submit_and_claim();
  EXPECT_EQ(record(claim.lease.id).progress, std::nullopt);
  for (const Progress& progress :
       {Progress{1, 10, "reading"}, Progress{7, 10, ""}, Progress{9'000'000'000, 0, "bytes"}}) {
    const ProgressReport report{claim.lease, progress};
    queue().report_progress({&report, 1});
    EXPECT_EQ(record(claim.lease.id).progress, progress);
  }
  EXPECT_EQ(version(claim.lease.id), claim.lease.version);
}

TEST_P(SettleContract, ProgressOfALostLeaseIsDropped) {
  const Claim lost = submit_and_claim();
  settle(lost.lease, Released{});
  const Claim held = claim_one();
  const std::vector<ProgressReport> reports{
      {held.lease, Progress{1, 2, "mine"}},
      {lost.lease, Progress{2, 2, "theirs"}},
      {Lease{TaskId::generate(), 1}, Progress{0, 0, "nobody's"}},
  };
  EXPECT_NO_THROW(queue().report_progress(reports));
  EXPECT_EQ(record(held.lease.id).progress, (Progress{1, 2, "mine"}));
}

TEST_P(SettleContract, ProgressBeginsAnewWithEachAttempt) {
  const Claim first = submit_and_claim();
  const ProgressReport report{first.lease, Progress{1, 2, "half"}};
  queue().report_progress({&report, 1});
  settle(first.lease, Retried{error_named("E"), {}});
  const Claim second = claim_one();
  EXPECT_EQ(record(second.lease.id).progress, std::nullopt);
}

}  // namespace errand::testing
