#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "worker_fixture.hpp"

namespace errand::testing {
namespace {

/// Whose tasks the test hands over: it claims them in the worker's name.
class HandingEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  TaskQueue& queue() noexcept override { return queue_; }

  [[nodiscard]] bool has_taker() {
    const std::lock_guard lock{queue_.mutex};
    return queue_.taker != nullptr;
  }
  /// What the worker said last.
  [[nodiscard]] std::size_t stands_by() {
    const std::lock_guard lock{queue_.mutex};
    return queue_.stands_by;
  }
  /// All that is due, as if the storage had claimed it for `worker`.
  std::vector<Claim> claim_for(const std::string& worker) {
    return real().queue().claim({.queues = {kDefaultQueue}, .limit = 100, .worker = worker}).claims;
  }
  void hand_over(Claim claim) {
    const std::lock_guard lock{queue_.mutex};
    ASSERT_TRUE(queue_.taker);
    queue_.taker(std::move(claim));
  }

 private:
  struct Queue final : ForwardingQueue {
    explicit Queue(TaskQueue* next) : ForwardingQueue{next} {}
    Subscription stand_by(const std::string& /*worker*/, Taker given) override {
      const std::lock_guard lock{mutex};
      taker = std::move(given);
      return Subscription{[this] {
        const std::lock_guard leaving{mutex};
        taker = nullptr;
      }};
    }
    ClaimBatch claim(const ClaimRequest& request) override {
      {
        const std::lock_guard lock{mutex};
        stands_by = request.stands_by;
      }
      // Nothing: tasks come from the test alone.
      return {};
    }
    std::mutex mutex;
    Taker taker;
    std::size_t stands_by = 0;
  };
  Queue queue_{&real().queue()};
};

class WorkerHandOverTest : public WorkerTest {
 protected:
  static WorkerOptions three_at_a_time() {
    WorkerOptions options;
    options.concurrency = 3;
    return options;
  }

  HandingEngine handing{file.open(clock)};
};

TEST_F(WorkerHandOverTest, RunsAndSettlesWhatItIsHanded) {
  handle([](TaskContext&) { return "42"; });
  RunningWorker worker{handing, handlers, three_at_a_time(), logger};
  ASSERT_TRUE(eventually([&] { return handing.stands_by() == 3; }));
  const TaskHandle task = submit();
  for (Claim& claim : handing.claim_for(worker.name())) handing.hand_over(std::move(claim));
  ASSERT_TRUE(becomes(task, TaskStatus::completed));
  EXPECT_EQ(record(task).data.result, "42");
  EXPECT_EQ(worker.stop_and_report().completed, 1);
}

TEST_F(WorkerHandOverTest, SaysHowManyHandlersAreFree) {
  Milestone begun;
  Milestone may_end;
  handle([&](TaskContext&) {
    begun.reach();
    static_cast<void>(may_end.was_reached());
    return "1";
  });
  RunningWorker worker{handing, handlers, three_at_a_time(), logger};
  ASSERT_TRUE(eventually([&] { return handing.stands_by() == 3; }));
  submit_many(2);
  for (Claim& claim : handing.claim_for(worker.name())) handing.hand_over(std::move(claim));
  ASSERT_TRUE(begun.was_reached(2));
  EXPECT_TRUE(eventually([&] { return handing.stands_by() == 1; }));
  may_end.reach();
  EXPECT_EQ(worker.stop_and_report().completed, 2);
}

TEST_F(WorkerHandOverTest, AtItsEndWhatWasOnItsWayGoesBackUnspent) {
  handle([](TaskContext&) { return "1"; });
  RunningWorker worker{handing, handlers, three_at_a_time(), logger};
  ASSERT_TRUE(eventually([&] { return handing.stands_by() == 3; }));
  const TaskHandle task = submit();
  EXPECT_EQ(handing.claim_for(worker.name()).size(), 1U);
  EXPECT_EQ(worker.stop_and_report().completed, 0);
  EXPECT_FALSE(handing.has_taker());
  const TaskRecord found = record(task);
  EXPECT_EQ(found.data.status, TaskStatus::retrying);
  EXPECT_EQ(found.attempts, 0);
  EXPECT_EQ(found.crashes, 0);
}

TEST_F(WorkerHandOverTest, WithALimitOrToDrainItTakesWhatItClaimsItself) {
  WorkerOptions options = three_at_a_time();
  options.limit = 5;
  RunningWorker limited{handing, handlers, options, logger};
  ASSERT_TRUE(eventually([&] { return handing.stands_by() == 3; }));
  EXPECT_FALSE(handing.has_taker());
  static_cast<void>(limited.stop_and_report());
  options.limit = 0;
  options.drain = true;
  RunningWorker draining{handing, handlers, options, logger};
  EXPECT_EQ(draining.report().reason, WorkerReport::Reason::drained);
  EXPECT_FALSE(handing.has_taker());
}

}  // namespace
}  // namespace errand::testing
