#pragma once

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// WorkerRegistry: who is at work.
class WorkerRegistryContract : public EngineContract {
 protected:
  static constexpr std::chrono::hours kForgetAfter{3};

  static WorkerInfo worker_named(std::string name) {
    WorkerInfo worker;
    worker.worker = std::move(name);
    worker.host = "host-1";
    worker.pid = 4711;
    worker.queues = {"mail", "default"};
    worker.concurrency = 8;
    worker.running = 3;
    worker.handled = 1'000'000'000'000;
    worker.failed = 5;
    return worker;
  }

  void beat(const std::string& name) { workers().beat(worker_named(name), kForgetAfter); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const WorkerInfo& worker : workers().workers()) all.push_back(worker.worker);
    return all;
  }
};

TEST_P(WorkerRegistryContract, AtFirstThereIsNobody) { EXPECT_TRUE(workers().workers().empty()); }

TEST_P(WorkerRegistryContract, ABeatShowsTheWorker) {
  WorkerInfo sent = worker_named("w");
  sent.started_at = Timestamp{};
  sent.seen_at = Timestamp{};
  workers().beat(sent, kForgetAfter);
  const std::vector<WorkerInfo> all = workers().workers();
  ASSERT_EQ(all.size(), 1U);
  const WorkerInfo& seen = all.front();
  EXPECT_EQ(seen.worker, "w");
  EXPECT_EQ(seen.host, "host-1");
  EXPECT_EQ(seen.pid, 4711);
  EXPECT_THAT(seen.queues, ::testing::ElementsAre("mail", "default"));
  EXPECT_EQ(seen.concurrency, 8);
  EXPECT_EQ(seen.running, 3);
  EXPECT_EQ(seen.handled, 1'000'000'000'000);
  EXPECT_EQ(seen.failed, 5);
  EXPECT_TRUE(is_about(seen.started_at, now()));
  EXPECT_TRUE(is_about(seen.seen_at, now()));
}

TEST_P(WorkerRegistryContract, AFurtherBeatRefreshesTheWorker) {
  beat("w");
  pass(std::chrono::hours{1});
  WorkerInfo later = worker_named("w");
  later.running = 0;
  later.handled = 9;
  later.failed = 0;
  workers().beat(later, kForgetAfter);
  const std::vector<WorkerInfo> all = workers().workers();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().running, 0);
  EXPECT_EQ(all.front().handled, 9);
  EXPECT_EQ(all.front().failed, 0);
  EXPECT_TRUE(is_about(all.front().started_at, now() - std::chrono::hours{1}));
  EXPECT_TRUE(is_about(all.front().seen_at, now()));
}

TEST_P(WorkerRegistryContract, ARetiredWorkerIsGone) {
  beat("w1");
  beat("w2");
  workers().retire("w1");
  EXPECT_THAT(names(), ::testing::ElementsAre("w2"));
  EXPECT_NO_THROW(workers().retire("w1"));
  EXPECT_NO_THROW(workers().retire("never there"));
  EXPECT_THAT(names(), ::testing::ElementsAre("w2"));
}

TEST_P(WorkerRegistryContract, WorkersNotSeenForTooLongAreForgotten) {
  beat("silent");
  pass(kForgetAfter - drift() - kInstant);
  beat("w");
  EXPECT_THAT(names(), ::testing::ElementsAre("silent", "w"));
  pass(drift() + 2 * kInstant);
  beat("w");
  EXPECT_THAT(names(), ::testing::ElementsAre("w"));
}

TEST_P(WorkerRegistryContract, AWorkerThatComesBackLateIsThere) {
  beat("w");
  pass(10 * kForgetAfter);
  beat("w");
  EXPECT_THAT(names(), ::testing::ElementsAre("w"));
}

TEST_P(WorkerRegistryContract, WorkersAreOrderedByTheirStart) {
  for (const char* name : {"c", "a", "b"}) {
    beat(name);
    pass(kInstant);
  }
  beat("c");
  EXPECT_THAT(names(), ::testing::ElementsAre("c", "a", "b"));
}

TEST_P(WorkerRegistryContract, WorkersAreSeenByEverybody) {
  const std::unique_ptr<Engine> other = open_another();
  beat("w");
  ASSERT_EQ(other->workers().workers().size(), 1U);
  EXPECT_EQ(other->workers().workers().front().worker, "w");
}

}  // namespace errand::testing
