#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "errand/testing/child_process.hpp"
#include "errand/testing/contract_fixture.hpp"
#include "errand/testing/signal_probe.hpp"

namespace errand::testing {

/// Signals: whoever waits is told, in the engine that made the change and in the others.
class SignalsContract : public EngineContract {
 protected:
  /// `change` concerns `id` and must be told both here and in another engine, which is opened only
  /// now, so that it cannot mistake the signals of earlier changes for this one.
  void expect_signal(Signal signal, TaskId id, const std::function<void()>& change) {
    const std::unique_ptr<Engine> other = open_another();
    SignalProbe here{engine(), signal};
    SignalProbe there{*other, signal};
    ASSERT_TRUE(here.hears_only_what_follows() && there.hears_only_what_follows());
    change();
    EXPECT_TRUE(here.hears_of(id)) << "no signal in the same engine";
    EXPECT_TRUE(there.hears_of(id)) << "no signal in another engine";
  }
};

TEST_P(SignalsContract, ASubmitSignalsWork) {
  const NewTask task = new_task();
  expect_signal(Signal::work, task.id, [&] { submit(task); });
}

TEST_P(SignalsContract, ASignalOfWorkLeavesOutNoQueueThatHasSome) {
  SignalProbe probe{engine(), Signal::work};
  const std::vector<NewTask> tasks{new_task("mail"), new_task("print"), new_task("mail")};
  queue().submit(tasks);
  EXPECT_TRUE(probe.hears_of_queue("mail"));
  EXPECT_TRUE(probe.hears_of_queue("print"));
}

TEST_P(SignalsContract, ATaskHandedBackSignalsWork) {
  const Claim released = submit_and_claim();
  expect_signal(Signal::work, released.lease.id, [&] { settle(released.lease, Released{}); });
  const Claim retried = claim_one();
  expect_signal(Signal::work, retried.lease.id, [&] {
    settle(retried.lease, Retried{error_named("E"), {}});
  });
}

TEST_P(SignalsContract, ARescueSignalsWork) {
  const Claim claim = submit_and_claim();
  pass(kLease + kInstant);
  expect_signal(Signal::work, claim.lease.id, [&] { rescue(); });
}

TEST_P(SignalsContract, ARequeueSignalsWork) {
  const TaskId id = task_in(TaskStatus::failed);
  expect_signal(Signal::work, id, [&] { queue().requeue({&id, 1}); });
}

TEST_P(SignalsContract, AResumedQueueSignalsWork) {
  pause("mail");
  const TaskId id = submit(new_task("mail"));
  expect_signal(Signal::work, id, [&] { resume("mail"); });
}

TEST_P(SignalsContract, EachFinalOutcomeSignalsCompletion) {
  for (const Outcome& outcome :
       {Outcome{Completed{"1"}}, Outcome{Failed{error_named("E")}}, Outcome{CancelHonoured{}}}) {
    const Claim claim = submit_and_claim();
    expect_signal(Signal::completion, claim.lease.id, [&] { settle(claim.lease, outcome); });
  }
}

TEST_P(SignalsContract, CancellingAWaitingTaskSignalsCompletion) {
  const TaskId id = submit();
  expect_signal(Signal::completion, id, [&] { cancel(id); });
}

TEST_P(SignalsContract, ATaskAskedToStopSignalsCompletionWhenItIsNotRetried) {
  const Claim claim = submit_and_claim();
  cancel(claim.lease.id);
  expect_signal(Signal::completion, claim.lease.id, [&] {
    settle(claim.lease, Retried{error_named("E"), {}});
  });
}

TEST_P(SignalsContract, ATaskThatLostTooManyWorkersSignalsCompletion) {
  const Claim claim = submit_and_claim();
  pass(kLease + kInstant);
  expect_signal(Signal::completion, claim.lease.id, [&] { rescue(1); });
}

TEST_P(SignalsContract, RecordsThatBecomeFinalSignalCompletion) {
  TaskData saved = record_in(TaskStatus::running, now());
  storage().save(saved);
  saved.complete("1", now());
  expect_signal(Signal::completion, saved.id, [&] { storage().save(saved); });

  const TaskData moved = record_in(TaskStatus::running, now());
  storage().save(moved);
  expect_signal(Signal::completion, moved.id,
                [&] { storage().update_status(moved.id, TaskStatus::cancelled); });
}

TEST_P(SignalsContract, RemovedTasksSignalCompletion) {
  const TaskId removed = submit();
  expect_signal(Signal::completion, removed, [&] { storage().remove(removed); });
  const TaskId discarded = task_in(TaskStatus::completed);
  expect_signal(Signal::completion, discarded, [&] { queue().discard({&discarded, 1}); });
}

TEST_P(SignalsContract, CancellingARunningTaskSignalsCancellation) {
  const Claim claim = submit_and_claim();
  expect_signal(Signal::cancellation, claim.lease.id, [&] { cancel(claim.lease.id); });
}

TEST_P(SignalsContract, WhatIsSubscribedToLaterIsToldToo) {
  const std::unique_ptr<Engine> other = open_another();
  SignalProbe completion{*other, Signal::completion};
  ASSERT_TRUE(completion.hears_only_what_follows());
  SignalProbe work{*other, Signal::work};
  ASSERT_TRUE(work.hears_only_what_follows());
  SignalProbe cancellation{*other, Signal::cancellation};
  ASSERT_TRUE(cancellation.hears_only_what_follows());
  const Claim claim = submit_and_claim();
  EXPECT_TRUE(work.hears_of(claim.lease.id));
  cancel(claim.lease.id);
  EXPECT_TRUE(cancellation.hears_of(claim.lease.id));
  settle(claim.lease, Completed{"1"});
  EXPECT_TRUE(completion.hears_of(claim.lease.id));
}

TEST_P(SignalsContract, AFinishThatComesWithASignalIsTheStoredOne) {
  const std::unique_ptr<Engine> other = open_another();
  SignalProbe mine{engine(), Signal::completion};
  SignalProbe theirs{*other, Signal::completion};
  ASSERT_TRUE(theirs.hears_only_what_follows());
  for (const Outcome& outcome :
       {Outcome{Completed{"[1,\n2]"}}, Outcome{Completed{'"' + std::string(5000, 'x') + '"'}},
        Outcome{Failed{error_named("E")}}, Outcome{CancelHonoured{}}}) {
    const Claim claim = submit_and_claim();
    const TaskId id = claim.lease.id;
    settle(claim.lease, outcome);
    const std::vector<Finish> stored = queue().finished({&id, 1});
    ASSERT_EQ(stored.size(), 1U);
    for (SignalProbe* probe : {&mine, &theirs}) {
      ASSERT_TRUE(probe->hears_of(id));
      const std::optional<Finish> told = probe->finish_of(id);
      if (!told) continue;  // nobody has to
      EXPECT_EQ(told->kind, Finish::Kind::finished);
      EXPECT_EQ(told->status, stored.front().status);
      EXPECT_EQ(told->result, stored.front().result);
      EXPECT_EQ(told->error, stored.front().error);
    }
  }
}

TEST_P(SignalsContract, AnotherProcessHearsOfACompletion) {
  const NewTask task = new_task();
  Gate listening;
  ChildProcess child{[&] {
    const std::unique_ptr<Engine> mine = under_test().open();
    SignalProbe probe{*mine, Signal::completion};
    if (!probe.hears_only_what_follows()) throw std::runtime_error{"cannot hear"};
    listening.open();
    if (!probe.hears_of(task.id)) throw std::runtime_error{"heard nothing"};
  }};
  listening.open();
  listening.wait();
  submit(task);
  settle(claim_one().lease, Completed{"1"});
  EXPECT_EQ(child.wait(), 0);
}

TEST_P(SignalsContract, EverySubscriberIsTold) {
  SignalProbe first{engine(), Signal::work};
  SignalProbe second{engine(), Signal::work};
  const TaskId id = submit();
  EXPECT_TRUE(first.hears_of(id));
  EXPECT_TRUE(second.hears_of(id));
}

TEST_P(SignalsContract, AnEndedSubscriptionIsNotToldAnyMore) {
  std::atomic<int> calls = 0;
  Subscription subscription =
      engine().signals().subscribe(Signal::work, [&](const SignalEvent&) { ++calls; });
  submit();
  subscription.reset();
  const int calls_so_far = calls;
  const std::unique_ptr<Engine> other = open_another();
  SignalProbe still_there{engine(), Signal::work};
  submit(*other);
  EXPECT_TRUE(still_there.hears());
  submit();
  EXPECT_EQ(calls, calls_so_far);
}

TEST_P(SignalsContract, EndingASubscriptionWaitsForItsRunningCallback) {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false;
  bool may_leave = false;
  std::atomic<bool> left = false;
  Subscription subscription = engine().signals().subscribe(Signal::work, [&](const SignalEvent&) {
    std::unique_lock lock{mutex};
    inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_leave; });
    left = true;
  });
  std::jthread submitter{[&] { submit(); }};
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return inside; });
  std::jthread ender{[&] {
    subscription.reset();
    EXPECT_TRUE(left);
  }};
  may_leave = true;
  lock.unlock();
  changed.notify_all();
}

TEST_P(SignalsContract, SubscriptionsComeAndGoWhileSignalsAreUnderWay) {
  const std::unique_ptr<Engine> other = open_another();
  std::jthread submitter{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) submit(*other);
  }};
  for (std::size_t round = 0; round < scaled(50); ++round) {
    auto owned = std::make_unique<std::atomic<int>>(0);
    Subscription subscription = engine().signals().subscribe(
        Signal::work, [calls = owned.get()](const SignalEvent&) { ++*calls; });
    submit();
    subscription.reset();
    const int calls_so_far = *owned;
    submit();
    EXPECT_EQ(*owned, calls_so_far);
  }
}

}  // namespace errand::testing
