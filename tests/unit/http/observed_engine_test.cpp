#include "http/observed_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errand/testing/fake_clock.hpp"

#include "support/sqlite_file.hpp"

namespace errand::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ObservedEngineTest : public ::testing::Test {
 protected:
  errand::testing::FakeClock clock;
  errand::testing::SqliteFile file;
  Metrics metrics;
  ObservedEngine engine{file.open(clock), metrics};

  Claim claim() {
    return engine.queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims.at(0);
  }
  void settle(const Claim& claim, Outcome outcome) {
    const Settlement settlement{claim.lease, std::move(outcome)};
    engine.queue().settle({&settlement, 1});
  }
};

TEST_F(ObservedEngineTest, TheWaitBeginsWhenTheTaskIsDueByTheStoragesClock) {
  const NewTask task{.envelope = Envelope{"t", "{}"}, .delay = 1h};
  engine.queue().submit({&task, 1});
  clock.advance(1h);  // which is not the machine's
  static_cast<void>(claim());
  EXPECT_THAT(metrics.text(),
              HasSubstr(R"(errand_task_wait_seconds_bucket{queue="default",type="t",le="1"} 1)"));
}

TEST_F(ObservedEngineTest, AnAttemptWithoutAHandlerHasStartedToo) {
  const NewTask task{.envelope = Envelope{"t", "{}"}};
  engine.queue().submit({&task, 1});
  settle(claim(), Failed{});
  EXPECT_THAT(metrics.text(),
              HasSubstr(R"(errand_tasks_started_total{queue="default",type="t"} 1)"));
  EXPECT_THAT(metrics.text(),
              HasSubstr(R"(errand_tasks_failed_total{queue="default",type="t"} 1)"));
}

TEST_F(ObservedEngineTest, AnAttemptInAHandlerHasStartedOnce) {
  const NewTask task{.envelope = Envelope{"t", "{}"}};
  engine.queue().submit({&task, 1});
  const Claim claimed = claim();
  TaskContext context{claimed, {}, silent_logger(), {}};
  EXPECT_EQ(engine.middleware()(claimed.envelope, context, [] { return std::string{"{}"}; }), "{}");
  settle(claimed, Completed{"{}"});
  EXPECT_THAT(metrics.text(),
              HasSubstr(R"(errand_tasks_started_total{queue="default",type="t"} 1)"));
}

TEST_F(ObservedEngineTest, WhatIsHandedBackUntouchedHasNotStarted) {
  const NewTask task{.envelope = Envelope{"t", "{}"}};
  engine.queue().submit({&task, 1});
  settle(claim(), Released{});
  EXPECT_THAT(metrics.text(), ::testing::Not(HasSubstr("errand_tasks_started_total{")));
}

TEST_F(ObservedEngineTest, EveryPartOfTheEngineIsMeasured) {
  static_cast<void>(engine.storage().load(TaskId::generate()));
  static_cast<void>(engine.workers().workers());
  static_cast<void>(engine.catalog().ended(engine.now(), 1));
  for (const char* operation : {"load", "workers", "ended"}) {
    EXPECT_THAT(metrics.text(),
                HasSubstr(std::string{"errand_engine_call_seconds_count{operation="} + '"' +
                          operation + "\"} 1"));
  }
}

TEST(Metrics, WhatWorkersSayOfThemselvesSinceTheirStartIsACounter) {
  Metrics metrics;
  Observation seen;
  seen.workers.push_back({.worker = "host-1-a", .handled = 7, .failed = 2});
  const std::string text = metrics.text(&seen);
  EXPECT_THAT(text, HasSubstr("# TYPE errand_worker_handled_total counter"));
  EXPECT_THAT(text, HasSubstr(R"(errand_worker_handled_total{worker="host-1-a"} 7)"));
  EXPECT_THAT(text, HasSubstr(R"(errand_worker_failed_total{worker="host-1-a"} 2)"));
}

}  // namespace
}  // namespace errand::http
