#pragma once

#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>
#include <vector>

#include "errand/testing/child_process.hpp"
#include "errand/testing/contract_fixture.hpp"
#include "errand/testing/signal_probe.hpp"

namespace errand::testing {

/// Several processes on one storage. The children are forked before this process opens an engine,
/// because a fork takes along memory but no threads, and wait at a gate until there is work.
class ProcessContract : public EngineContract {
 protected:
  void SetUp() override {
    if (!under_test().dsn()) GTEST_SKIP() << "other processes cannot reach this storage";
  }

  static void complete_all(Engine& engine) {
    while (true) {
      std::vector<Settlement> settlements;
      for (const Claim& claim : engine.queue().claim(claim_request(7)).claims) {
        settlements.push_back({claim.lease, Completed{claim.lease.id.to_string()}});
      }
      if (settlements.empty()) return;
      for (const SettleStatus status : engine.queue().settle(settlements)) {
        if (status != SettleStatus::settled) throw std::runtime_error{"a lease was lost"};
      }
    }
  }
};

TEST_P(ProcessContract, EachTaskIsCompletedByOneOfTheProcesses) {
  Gate gate;
  std::vector<ChildProcess> children;
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      gate.open();
      gate.wait();
      complete_all(*under_test().open());
    });
  }
  const std::vector<TaskId> ids = submit_many(scaled(1000));
  std::map<TaskId, std::int64_t> submitted_versions;
  for (const TaskId id : ids) submitted_versions[id] = version(id);
  gate.open();
  for (ChildProcess& child : children) EXPECT_EQ(child.wait(), 0);

  for (const TaskId id : ids) {
    const TaskRecord task = record(id);
    EXPECT_EQ(task.data.status, TaskStatus::completed);
    EXPECT_EQ(task.data.result, id.to_string());
    EXPECT_EQ(task.attempts, 1);
    EXPECT_EQ(task.crashes, 0);
    EXPECT_EQ(task.data.version, submitted_versions.at(id) + 2);
  }
}

TEST_P(ProcessContract, ProcessesMaySubmitAtTheSameTime) {
  Gate gate;
  std::vector<ChildProcess> children;
  const std::size_t per_process = scaled(100);
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      gate.open();
      gate.wait();
      const std::unique_ptr<Engine> mine = under_test().open();
      for (std::size_t n = 0; n < per_process; ++n) submit(*mine);
    });
  }
  gate.open();
  for (ChildProcess& child : children) EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(task_count(), static_cast<std::int64_t>(4 * per_process));
}

TEST_P(ProcessContract, TheTasksOfAKilledProcessAreRescued) {
  Gate gate;
  ChildProcess victim{[&] {
    gate.open();
    gate.wait();
    const std::unique_ptr<Engine> mine = under_test().open();
    if (mine->queue().claim(claim_request(10)).claims.size() != 10) {
      throw std::runtime_error{"could not claim 10 tasks"};
    }
    ::raise(SIGKILL);
  }};
  const std::vector<TaskId> ids = submit_many(10);
  gate.open();
  const int ending = victim.wait();
  ASSERT_TRUE(WIFSIGNALED(ending));
  ASSERT_EQ(WTERMSIG(ending), SIGKILL);

  EXPECT_TRUE(rescue().empty());
  pass(kLease + kInstant);
  EXPECT_EQ(rescue().size(), 10U);
  for (const TaskId id : ids) EXPECT_EQ(record(id).crashes, 1);
}

}  // namespace errand::testing
