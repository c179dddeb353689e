#pragma once

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/at_once.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// Many threads and many engines on one storage.
class ConcurrencyContract : public EngineContract {
 protected:
  static constexpr std::size_t kThreads = 4;

  /// As if half of the threads were another process's.
  Engine& engine_of(std::size_t thread) { return thread % 2 == 0 ? engine() : *other_; }

  void SetUp() override {
    static_cast<void>(engine());
    other_ = open_another();
  }

 private:
  std::unique_ptr<Engine> other_;
};

TEST_P(ConcurrencyContract, EachTaskIsClaimedByOneOfThem) {
  const std::vector<TaskId> ids = submit_many(scaled(2000));
  std::mutex mutex;
  std::vector<TaskId> claimed;
  at_once(2 * kThreads, [&](std::size_t thread) {
    while (true) {
      const ClaimBatch batch = engine_of(thread).queue().claim(claim_request(7));
      if (batch.claims.empty()) return;
      const std::lock_guard lock{mutex};
      for (const Claim& claim : batch.claims) claimed.push_back(claim.lease.id);
    }
  });
  EXPECT_THAT(claimed, ::testing::UnorderedElementsAreArray(ids));
}

TEST_P(ConcurrencyContract, EachTaskIsCompletedOnceAndNothingIsLost) {
  const std::size_t per_thread = scaled(300);
  std::atomic<std::size_t> settled = 0;
  at_once(2 * kThreads, [&](std::size_t thread) {
    Engine& mine = engine_of(thread);
    const bool submits = thread < kThreads;
    if (submits) {
      for (std::size_t i = 0; i < per_thread; i += 10) {
        std::vector<NewTask> tasks;
        for (std::size_t j = i; j < std::min(i + 10, per_thread); ++j) tasks.push_back(new_task());
        mine.queue().submit(tasks);
      }
      return;
    }
    while (settled < kThreads * per_thread) {
      std::vector<Settlement> settlements;
      for (const Claim& claim : mine.queue().claim(claim_request(5)).claims) {
        settlements.push_back({claim.lease, Completed{"1"}});
      }
      for (const SettleStatus status : mine.queue().settle(settlements)) {
        if (status != SettleStatus::settled) throw std::runtime_error{"a lease was lost"};
        ++settled;
      }
    }
  });
  const TaskStats stats = catalog().stats();
  EXPECT_EQ(stats.tasks[static_cast<std::size_t>(TaskStatus::completed)],
            static_cast<std::int64_t>(kThreads * per_thread));
  EXPECT_TRUE(stats.queues.empty());
}

TEST_P(ConcurrencyContract, OneOfManyMovesARecord) {
  for (std::size_t round = 0; round < scaled(25); ++round) {
    const TaskData task = record_in(TaskStatus::pending, now());
    storage().save(task);
    const std::int64_t before = version(task.id);
    std::atomic<int> won = 0;
    at_once(kThreads, [&](std::size_t thread) {
      try {
        engine_of(thread).storage().update_status(task.id, TaskStatus::running);
        ++won;
      } catch (const ConcurrentModificationException&) {
      }
    });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(version(task.id), before + 1);
  }
}

TEST_P(ConcurrencyContract, OneOfManySavesAVersion) {
  for (std::size_t round = 0; round < scaled(25); ++round) {
    const TaskId id = TaskId::generate();
    storage().save(TaskData::pending(id, "0", now()));
    const TaskData loaded = storage().load(id).value();
    std::atomic<int> won = 0;
    at_once(kThreads, [&](std::size_t thread) {
      TaskData mine = loaded;
      mine.payload = std::to_string(thread);
      try {
        engine_of(thread).storage().save(mine);
        ++won;
      } catch (const ConcurrentModificationException&) {
      }
    });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(version(id), *loaded.version + 1);
  }
}

TEST_P(ConcurrencyContract, SavesWithoutAVersionAllCount) {
  const TaskData task = record_in(TaskStatus::pending, now());
  storage().save(task);
  const std::int64_t before = version(task.id);
  at_once(kThreads, [&](std::size_t thread) {
    for (int i = 0; i < 10; ++i) engine_of(thread).storage().save(task);
  });
  EXPECT_EQ(version(task.id), before + static_cast<std::int64_t>(10 * kThreads));
}

TEST_P(ConcurrencyContract, IdsSubmittedBySeveralAreStoredOnce) {
  std::vector<NewTask> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(new_task());
  at_once(kThreads, [&](std::size_t thread) { engine_of(thread).queue().submit(tasks); });
  EXPECT_EQ(task_count(), 100);
  EXPECT_EQ(claim(1000).size(), 100U);
}

TEST_P(ConcurrencyContract, ATaskIsEitherCancelledOrClaimed) {
  const std::vector<TaskId> ids = submit_many(scaled(200));
  std::set<TaskId> claimed;
  std::map<TaskId, CancelStatus> answers;
  at_once(2, [&](std::size_t thread) {
    if (thread == 0) {
      for (const TaskId id : ids) answers[id] = engine().queue().cancel({&id, 1}).at(0);
      return;
    }
    for (int empty = 0; empty < 3;) {
      const ClaimBatch batch = engine_of(1).queue().claim(claim_request(3));
      for (const Claim& claim : batch.claims) claimed.insert(claim.lease.id);
      if (batch.claims.empty()) ++empty;
    }
  });
  for (const TaskId id : ids) {
    const bool was_claimed = claimed.contains(id);
    EXPECT_EQ(answers.at(id), was_claimed ? CancelStatus::requested : CancelStatus::cancelled);
    EXPECT_EQ(status(id), was_claimed ? TaskStatus::running : TaskStatus::cancelled);
  }
}

TEST_P(ConcurrencyContract, ATaskIsEitherSettledOrRescued) {
  submit_many(scaled(200));
  const std::vector<Claim> claims = claim(1000);
  pass(kLease + kInstant);
  std::set<TaskId> settled;
  std::set<TaskId> rescued;
  at_once(2, [&](std::size_t thread) {
    if (thread == 0) {
      for (const Claim& claim : claims) {
        if (settle(claim.lease, Completed{"1"}) == SettleStatus::settled) {
          settled.insert(claim.lease.id);
        }
      }
      return;
    }
    std::vector<Rescued> batch;
    do {
      batch = engine_of(1).queue().rescue(RescueRequest{5, 3});
      for (const Rescued& task : batch) rescued.insert(task.id);
    } while (!batch.empty());
  });
  EXPECT_EQ(settled.size() + rescued.size(), claims.size());
  for (const Claim& claim : claims) {
    const TaskId id = claim.lease.id;
    EXPECT_EQ(status(id), settled.contains(id) ? TaskStatus::completed : TaskStatus::retrying);
    EXPECT_EQ(version(id), claim.lease.version + 1);
  }
}

TEST_P(ConcurrencyContract, OneOfManyRequeuesATask) {
  for (std::size_t round = 0; round < scaled(25); ++round) {
    const TaskId id = task_in(TaskStatus::failed, new_task(std::to_string(round)));
    std::atomic<std::size_t> requeued = 0;
    at_once(kThreads, [&](std::size_t thread) {
      requeued += engine_of(thread).queue().requeue({&id, 1});
    });
    EXPECT_EQ(requeued, 1U);
  }
}

TEST_P(ConcurrencyContract, ReadersSeeWholeTransactions) {
  const std::size_t batch_size = 20;
  std::atomic<bool> done = false;
  at_once(kThreads, [&](std::size_t thread) {
    if (thread == 0) {
      for (std::size_t i = 0; i < scaled(50); ++i) submit_many(batch_size);
      done = true;
      return;
    }
    while (!done) {
      const TaskPage page = engine_of(thread).catalog().list({}, {});
      if (page.total % static_cast<std::int64_t>(batch_size) != 0) {
        throw std::runtime_error{"saw half of a batch: " + std::to_string(page.total)};
      }
    }
  });
  EXPECT_EQ(task_count(), static_cast<std::int64_t>(scaled(50) * batch_size));
}

}  // namespace errand::testing
