#pragma once

#include <array>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// TaskQueue: what is submitted is claimed, once, in order and in time.
class QueueContract : public EngineContract {
 protected:
  static NewTask task_with_everything() {
    NewTask task = new_task("mail", 7);
    task.envelope = Envelope{"email.send",
                             R"({"to":"a@b.c","text":"hello"})",
                             {{"tenant", "42"}, {"trace-id", "00-abc-01"}, {"empty", ""}}};
    task.retry.max_retries = 11;
    task.retry.delay = std::chrono::milliseconds{1234};
    task.retry.multiplier = 1.1;
    task.retry.max_delay = std::chrono::hours{24 * 300};
    task.retry.jitter = 0.3;
    return task;
  }
};

TEST_P(QueueContract, AClaimCarriesAllThatWasSubmitted) {
  const NewTask task = task_with_everything();
  submit(task);
  ClaimRequest request = claim_request(10, {"mail"});
  request.worker = "host:1:abc";
  const ClaimBatch batch = queue().claim(request);
  ASSERT_EQ(batch.claims.size(), 1U);
  const Claim& claim = batch.claims.front();
  EXPECT_EQ(claim.lease.id, task.id);
  EXPECT_EQ(claim.envelope.type(), task.envelope.type());
  EXPECT_EQ(claim.envelope.body(), task.envelope.body());
  EXPECT_EQ(claim.envelope.headers(), task.envelope.headers());
  EXPECT_EQ(claim.queue, "mail");
  EXPECT_EQ(claim.priority, 7);
  EXPECT_EQ(claim.attempt, 1);
  EXPECT_EQ(claim.crashes, 0);
  EXPECT_EQ(claim.retry, task.retry);
  EXPECT_TRUE(is_about(claim.submitted_at, now()));
  EXPECT_FALSE(claim.cancel_requested);
}

TEST_P(QueueContract, TheCatalogShowsAllThatWasSubmitted) {
  NewTask task = task_with_everything();
  task.delay = std::chrono::hours{2};
  submit(task);
  const TaskRecord found = record(task.id);
  EXPECT_EQ(found.data.status, TaskStatus::pending);
  EXPECT_EQ(found.data.payload, task.envelope.body());
  EXPECT_TRUE(is_about(found.data.submitted_at, now()));
  EXPECT_EQ(found.type, task.envelope.type());
  EXPECT_EQ(found.headers, task.envelope.headers());
  EXPECT_EQ(found.queue, "mail");
  EXPECT_EQ(found.priority, 7);
  EXPECT_EQ(found.available_at, found.data.submitted_at + task.delay);
  EXPECT_EQ(found.attempts, 0);
  EXPECT_EQ(found.crashes, 0);
  EXPECT_EQ(found.retry, task.retry);
  EXPECT_EQ(found.worker, std::nullopt);
  EXPECT_EQ(found.lease_expires_at, std::nullopt);
  EXPECT_FALSE(found.cancel_requested);
  EXPECT_EQ(found.progress, std::nullopt);
  EXPECT_EQ(found.history, std::nullopt);
  EXPECT_FALSE(found.expired);
}

TEST_P(QueueContract, AClaimMovesTheTaskToRunning) {
  const TaskId id = submit();
  const TaskRecord before = record(id);
  const Claim claim = claim_one();
  const TaskRecord after = record(id);
  EXPECT_EQ(after.data.status, TaskStatus::running);
  EXPECT_TRUE(is_about(after.data.started_at, now()));
  EXPECT_EQ(after.data.version, *before.data.version + 1);
  EXPECT_EQ(after.data.version, claim.lease.version);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.worker, "worker-1");
  EXPECT_TRUE(is_about(after.lease_expires_at, now() + kLease));
  EXPECT_NO_THROW(validate(after.data));
}

TEST_P(QueueContract, ATaskIsClaimedOnce) {
  submit();
  EXPECT_EQ(claim(10).size(), 1U);
  EXPECT_TRUE(claim(10).empty());
}

TEST_P(QueueContract, AnEmptyQueueGivesNothing) {
  const ClaimBatch batch = queue().claim(claim_request(10));
  EXPECT_TRUE(batch.claims.empty());
  EXPECT_EQ(batch.next_due, std::nullopt);
}

TEST_P(QueueContract, SubmittedTasksSurviveReopening) {
  const NewTask task = task_with_everything();
  submit(task);
  reopen();
  const Claim claim = claim_one("mail");
  EXPECT_EQ(claim.lease.id, task.id);
  EXPECT_EQ(claim.envelope.body(), task.envelope.body());
}

TEST_P(QueueContract, AClaimSurvivesReopening) {
  const Claim claim = submit_and_claim();
  reopen();
  EXPECT_TRUE(this->claim(10).empty());
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
}

TEST_P(QueueContract, ADelayedTaskIsNotClaimedBeforeItsTime) {
  const std::chrono::hours delay{3};
  submit(new_task(kDefaultQueue, 0, delay));
  EXPECT_TRUE(claim(10).empty());
  pass(delay - drift() - kInstant);
  EXPECT_TRUE(claim(10).empty());
}

TEST_P(QueueContract, ADelayedTaskIsClaimedAtItsTime) {
  const std::chrono::hours delay{3};
  const TaskId id = submit(new_task(kDefaultQueue, 0, delay));
  pass(delay);
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(id));
}

TEST_P(QueueContract, AClaimTellsWhenTheNextTaskIsDue) {
  using std::chrono::hours;
  submit(new_task(kDefaultQueue, 0, hours{9}));
  submit(new_task(kDefaultQueue, 0, hours{5}));
  submit(new_task("other", 0, hours{1}));
  pass(hours{2});
  const ClaimBatch none = queue().claim(claim_request(10));
  EXPECT_TRUE(none.claims.empty());
  ASSERT_TRUE(none.next_due.has_value());
  EXPECT_LE(*none.next_due, hours{3});
  EXPECT_GE(*none.next_due, hours{3} - drift());

  submit();
  const ClaimBatch some = queue().claim(claim_request(10));
  EXPECT_EQ(some.claims.size(), 1U);
  ASSERT_TRUE(some.next_due.has_value());
  EXPECT_LE(*some.next_due, hours{3});
  EXPECT_GE(*some.next_due, hours{3} - drift());
}

TEST_P(QueueContract, ARetryCountsAsTheNextTaskToBeDue) {
  const Claim claim = submit_and_claim();
  settle(claim.lease, Retried{error_named("E"), std::chrono::hours{4}});
  const std::optional<std::chrono::milliseconds> due = queue().claim(claim_request(1)).next_due;
  ASSERT_TRUE(due.has_value());
  EXPECT_LE(*due, std::chrono::hours{4});
  EXPECT_GE(*due, std::chrono::hours{4} - drift());
}

/// A worker sleeps until the next task is due: "now", for a task it would not be given, would keep
/// it awake for nothing.
TEST_P(QueueContract, TheNextTaskToBeDueIsNotOneThatIsHeldBack) {
  submit(new_task("paused"));
  pause("paused");
  const ClaimBatch paused = queue().claim(claim_request(10, {"paused"}));
  EXPECT_TRUE(paused.claims.empty());
  EXPECT_GT(paused.next_due.value_or(std::chrono::hours{1}), std::chrono::milliseconds{0});

  submit_suspects({new_task()});
  ClaimRequest request = claim_request(10);
  request.suspects = 0;
  const ClaimBatch suspects = queue().claim(request);
  EXPECT_TRUE(suspects.claims.empty());
  EXPECT_GT(suspects.next_due.value_or(std::chrono::hours{1}), std::chrono::milliseconds{0});
}

TEST_P(QueueContract, HigherPrioritiesAreClaimedFirst) {
  const TaskId normal = submit(new_task(kDefaultQueue, 0));
  const TaskId lowest = submit(new_task(kDefaultQueue, -32768));
  const TaskId highest = submit(new_task(kDefaultQueue, 32767));
  const TaskId low = submit(new_task(kDefaultQueue, -1));
  const TaskId high = submit(new_task(kDefaultQueue, 1));
  EXPECT_THAT(ids_of(claim(2)), ::testing::ElementsAre(highest, high));
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(normal, low, lowest));
}

TEST_P(QueueContract, TasksOfOnePriorityAreClaimedFirstInFirstOut) {
  std::vector<TaskId> ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(submit());
    pass(kInstant);
  }
  EXPECT_EQ(ids_of(claim(4)), (std::vector<TaskId>{ids.begin(), ids.begin() + 4}));
  EXPECT_EQ(ids_of(claim(10)), (std::vector<TaskId>{ids.begin() + 4, ids.end()}));
}

TEST_P(QueueContract, TheDueTimeDecidesAndNotTheTimeOfTheSubmit) {
  using std::chrono::hours;
  const TaskId delayed = submit(new_task(kDefaultQueue, 0, hours{10}));
  pass(hours{1});
  const TaskId undelayed = submit();
  pass(hours{10});
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(undelayed, delayed));
}

TEST_P(QueueContract, AWaitingTaskOfHighPriorityDoesNotHoldUpDueOnes) {
  submit(new_task(kDefaultQueue, 100, std::chrono::hours{1}));
  const TaskId due = submit(new_task(kDefaultQueue, -100));
  EXPECT_THAT(ids_of(claim(10)), ::testing::ElementsAre(due));
}

TEST_P(QueueContract, QueuesAreClaimedInTheOrderGiven) {
  const TaskId a = submit(new_task("a", 100));
  const TaskId c = submit(new_task("c", 50));
  const TaskId b = submit(new_task("b", 0));
  EXPECT_THAT(ids_of(claim(2, {"c", "b", "a"})), ::testing::ElementsAre(c, b));
  EXPECT_THAT(ids_of(claim(2, {"c", "b", "a"})), ::testing::ElementsAre(a));
}

TEST_P(QueueContract, OtherQueuesAreLeftAlone) {
  const TaskId other = submit(new_task("other"));
  EXPECT_TRUE(claim(10, {kDefaultQueue, "Other", "othe", "other "}).empty());
  EXPECT_TRUE(claim(10, {}).empty());
  EXPECT_EQ(status(other), TaskStatus::pending);
}

TEST_P(QueueContract, AQueueNamedTwiceGivesItsTasksOnce) {
  const TaskId id = submit();
  EXPECT_THAT(ids_of(claim(10, {kDefaultQueue, kDefaultQueue})), ::testing::ElementsAre(id));
}

TEST_P(QueueContract, AClaimGivesNoMoreThanItsLimit) {
  submit_many(5, "a");
  submit_many(5, "b");
  EXPECT_TRUE(claim(0, {"a", "b"}).empty());
  EXPECT_EQ(claim(3, {"a", "b"}).size(), 3U);
  EXPECT_EQ(claim(4, {"a", "b"}).size(), 4U);
  EXPECT_EQ(claim(100, {"a", "b"}).size(), 3U);
}

TEST_P(QueueContract, APausedQueueGivesNothingUntilItIsResumed) {
  const TaskId before = submit(new_task("mail"));
  pause("mail");
  pass(kInstant);
  const TaskId meanwhile = submit(new_task("mail"));
  const TaskId other = submit();
  EXPECT_THAT(ids_of(claim(10, {"mail", kDefaultQueue})), ::testing::ElementsAre(other));
  resume("mail");
  EXPECT_THAT(ids_of(claim(10, {"mail"})), ::testing::ElementsAre(before, meanwhile));
}

TEST_P(QueueContract, APausedQueueStaysPausedForEverybody) {
  submit(new_task("mail"));
  const std::unique_ptr<Engine> other = open_another();
  pause("mail");
  EXPECT_TRUE(other->queue().claim(claim_request(10, {"mail"})).claims.empty());
  reopen();
  EXPECT_TRUE(claim(10, {"mail"}).empty());
}

TEST_P(QueueContract, APausedQueueTakesSettles) {
  const Claim claim = submit_and_claim();
  pause(kDefaultQueue);
  EXPECT_EQ(settle(claim.lease, Completed{"1"}), SettleStatus::settled);
}

TEST_P(QueueContract, PausingTwiceAndResumingTwiceAreFine) {
  submit(new_task("mail"));
  pause("mail");
  pause("mail");
  resume("mail");
  EXPECT_EQ(claim(10, {"mail"}).size(), 1U);
  EXPECT_NO_THROW(resume("mail"));
  EXPECT_NO_THROW(pause("never used"));
}

TEST_P(QueueContract, SeveralQueuesArePausedAndResumedTogetherOrNotAtAll) {
  submit(new_task("mail"));
  submit(new_task("print"));
  const std::vector<std::string> both{"mail", "print"};
  for (const std::string& wrong : {std::string{}, std::string(191, 'q'), std::string{"a\nb"}}) {
    const std::vector<std::string> with_a_wrong_one{"mail", wrong};
    EXPECT_THROW(queue().pause(with_a_wrong_one), ValidationException);
  }
  queue().pause(std::vector<std::string>{"print"});
  EXPECT_EQ(claim(10, both).size(), 1U) << "mail was not paused";
  submit(new_task("mail"));
  queue().pause(both);
  EXPECT_TRUE(claim(10, both).empty());
  EXPECT_THROW(queue().resume(std::vector<std::string>{"mail", ""}), ValidationException);
  EXPECT_TRUE(claim(10, both).empty());
  queue().resume(both);
  EXPECT_EQ(claim(10, both).size(), 2U);
}

TEST_P(QueueContract, ABatchIsStoredWhole) {
  const std::vector<TaskId> ids = submit_many(1000);
  EXPECT_EQ(task_count(), 1000);
  EXPECT_THAT(ids_of(claim(2000)), ::testing::UnorderedElementsAreArray(ids));
}

TEST_P(QueueContract, ABatchWithOneInvalidTaskIsNotStored) {
  std::vector<NewTask> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(new_task());
  tasks.back().envelope = Envelope{"", "{}"};
  EXPECT_THROW(queue().submit(tasks), ValidationException);
  EXPECT_EQ(task_count(), 0);
  EXPECT_TRUE(claim(1000).empty());
}

TEST_P(QueueContract, EmptyBatchesTouchNothing) {
  queue().submit({});
  EXPECT_TRUE(queue().settle({}).empty());
  EXPECT_TRUE(queue().extend({}, kLease).empty());
  EXPECT_TRUE(queue().cancel({}).empty());
  EXPECT_EQ(queue().requeue({}), 0U);
  EXPECT_EQ(queue().discard({}), 0U);
  EXPECT_NO_THROW(queue().report_progress({}));
  EXPECT_EQ(task_count(), 0);
}

TEST_P(QueueContract, ATaskOutsideTheLimitsIsRefused) {
  struct Case {
    const char* rule;
    void (*damage)(NewTask&);
  };
  using std::chrono::milliseconds;
  const std::array cases{
      Case{"a type",
           [](NewTask& t) {
             t.envelope = Envelope{"", "{}"};
           }},
      Case{"a type of at most 190 bytes",
           [](NewTask& t) {
             t.envelope = Envelope{std::string(191, 't'), "{}"};
           }},
      Case{"a type without control characters",
           [](NewTask& t) {
             t.envelope = Envelope{"a\nb", "{}"};
           }},
      Case{"a type without NUL",
           [](NewTask& t) {
             t.envelope = Envelope{std::string{"a\0b", 3}, "{}"};
           }},
      Case{"a type in UTF-8",
           [](NewTask& t) {
             t.envelope = Envelope{"a\xc3", "{}"};
           }},
      Case{"a queue", [](NewTask& t) { t.queue = ""; }},
      Case{"a queue of at most 190 bytes", [](NewTask& t) { t.queue = std::string(191, 'q'); }},
      Case{"a queue without control characters", [](NewTask& t) { t.queue = "a\tb"; }},
      Case{"a queue in UTF-8", [](NewTask& t) { t.queue = "\xed\xa0\x80"; }},
      Case{"a priority of at most 32767", [](NewTask& t) { t.priority = 32768; }},
      Case{"a priority of at least -32768", [](NewTask& t) { t.priority = -32769; }},
      Case{"no negative delay", [](NewTask& t) { t.delay = milliseconds{-1}; }},
      Case{"a delay of at most 10 years",
           [](NewTask& t) { t.delay = std::chrono::hours{24 * 366 * 11}; }},
      Case{"no negative number of retries", [](NewTask& t) { t.retry.max_retries = -1; }},
      Case{"a multiplier of at least 1", [](NewTask& t) { t.retry.multiplier = 0.5; }},
      Case{"a finite multiplier",
           [](NewTask& t) { t.retry.multiplier = std::numeric_limits<double>::infinity(); }},
      Case{"a jitter of at most 1", [](NewTask& t) { t.retry.jitter = 1.5; }},
      Case{"headers of at most 64 KiB",
           [](NewTask& t) {
             t.envelope = t.envelope.with_header("big", std::string(64 * 1024 + 1, 'h'));
           }},
      Case{"at most 64 headers",
           [](NewTask& t) {
             for (int i = 0; i < 65; ++i) {
               t.envelope = t.envelope.with_header("h" + std::to_string(i), "v");
             }
           }},
  };
  for (const Case& broken : cases) {
    NewTask task = new_task();
    broken.damage(task);
    EXPECT_THROW(submit(task), ValidationException) << "needs " << broken.rule;
    EXPECT_EQ(catalog().find(task.id), std::nullopt) << broken.rule;
  }
}

TEST_P(QueueContract, ATaskAtTheLimitsIsTaken) {
  NewTask task = new_task(std::string(190, 'q'), 32767);
  task.envelope = Envelope{std::string(190, 't'), "{}"};
  for (int i = 0; i < 64; ++i) {
    task.envelope = task.envelope.with_header("h" + std::to_string(i), "v");
  }
  submit(task);
  const Claim claim = claim_one(task.queue);
  EXPECT_EQ(claim.queue, task.queue);
  EXPECT_EQ(claim.envelope.type(), task.envelope.type());
  EXPECT_EQ(claim.envelope.headers(), task.envelope.headers());
}

TEST_P(QueueContract, ADelayOfYearsIsTaken) {
  const std::chrono::hours delay{24 * 365 * 9};
  const TaskId id = submit(new_task(kDefaultQueue, 0, delay));
  EXPECT_EQ(record(id).available_at, record(id).data.submitted_at + delay);
  pass(delay);
  EXPECT_THAT(ids_of(claim(1)), ::testing::ElementsAre(id));
}

TEST_P(QueueContract, SubmittingAStoredIdAgainChangesNothing) {
  NewTask task = new_task();
  submit(task);
  const TaskData before = record(task.id).data;
  task.envelope = Envelope{"another.type", R"({"n":2})"};
  task.queue = "other";
  const NewTask fresh = new_task();
  const std::vector<NewTask> batch{task, fresh};
  EXPECT_EQ(queue().submit(batch), 1U);
  EXPECT_EQ(queue().submit(batch), 0U);
  EXPECT_EQ(record(task.id).data, before);
  EXPECT_EQ(record(task.id).type, "contract.task");
  EXPECT_EQ(record(task.id).queue, kDefaultQueue);
  EXPECT_EQ(record(fresh.id).data.status, TaskStatus::pending);
  EXPECT_EQ(task_count(), 2);
}

TEST_P(QueueContract, OneStoredIdAmongManyOfAKindDoesNotKeepTheOthersOut) {
  std::vector<NewTask> batch;
  for (int i = 0; i < 100; ++i) batch.push_back(new_task_with_body(std::to_string(i)));
  const NewTask stored = batch[50];
  submit(stored);
  const TaskData before = record(stored.id).data;
  EXPECT_EQ(queue().submit(batch), 99U);
  EXPECT_EQ(task_count(), 100);
  EXPECT_EQ(record(stored.id).data, before);
  EXPECT_EQ(record(batch[99].id).data.payload, "99");
}

TEST_P(QueueContract, AnIdTwiceInOneBatchIsStoredOnceAsTheFirst) {
  const NewTask first = new_task_with_body(R"("first")");
  NewTask second = new_task_with_body(R"("second")");
  second.id = first.id;
  const std::vector<NewTask> batch{first, second};
  EXPECT_EQ(queue().submit(batch), 1U);
  EXPECT_EQ(task_count(), 1);
  EXPECT_EQ(record(first.id).data.payload, R"("first")");
}

TEST_P(QueueContract, SubmittingTheIdOfARecordThatWasNeverQueuedDoesNotQueueIt) {
  const TaskData saved = record_in(TaskStatus::pending, now());
  storage().save(saved);
  NewTask task = new_task();
  task.id = saved.id;
  submit(task);
  EXPECT_TRUE(claim(10).empty());
  EXPECT_EQ(record(saved.id).queue, std::nullopt);
}

}  // namespace errand::testing
