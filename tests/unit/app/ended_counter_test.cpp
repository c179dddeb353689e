#include "app/ended_counter.hpp"

#include <gtest/gtest.h>

#include "errand/testing/fake_clock.hpp"

#include "support/sqlite_file.hpp"

namespace errand::detail {
namespace {

using namespace std::chrono_literals;

class EndedCounterTest : public ::testing::Test {
 protected:
  TaskId complete_one() {
    const NewTask task{.envelope = Envelope{"t", "{}"}};
    engine->queue().submit({&task, 1});
    const ClaimBatch batch = engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"});
    const Settlement done{batch.claims.at(0).lease, Completed{"{}"}};
    engine->queue().settle({&done, 1});
    return batch.claims.at(0).lease.id;
  }

  std::int64_t newly_completed() {
    const auto news = counter.look(engine->now());
    return news ? news->tasks.at(static_cast<std::size_t>(TaskStatus::completed)) : -1;
  }

  errand::testing::FakeClock clock;
  errand::testing::SqliteFile file;
  std::unique_ptr<Engine> engine = file.open(clock);
  EndedCounter counter{*engine, 10};
};

TEST_F(EndedCounterTest, TheFirstLookOnlyBegins) {
  complete_one();
  EXPECT_FALSE(counter.look(engine->now()));
  EXPECT_EQ(newly_completed(), 0);
}

TEST_F(EndedCounterTest, EachEndIsCountedOnceHoweverOftenItLooks) {
  static_cast<void>(counter.look(engine->now()));
  complete_one();
  EXPECT_EQ(newly_completed(), 1);
  complete_one();
  complete_one();
  EXPECT_EQ(newly_completed(), 2) << "in the same second";
  clock.advance(5s);
  complete_one();
  clock.advance(5s);
  EXPECT_EQ(newly_completed(), 1);
  EXPECT_EQ(newly_completed(), 0);
}

TEST_F(EndedCounterTest, WhatIsDeletedAfterwardsWasCounted) {
  static_cast<void>(counter.look(engine->now()));
  for (int round = 0; round < 5; ++round) {
    const TaskId id = complete_one();
    EXPECT_EQ(newly_completed(), 1) << "a storage that never grows";
    engine->queue().discard({&id, 1});
    clock.advance(1s);
  }
}

TEST_F(EndedCounterTest, ATaskThatRanForLongIsAmongTheLatestWhenItEnds) {
  const NewTask task{.envelope = Envelope{"slow", "{}"}};
  engine->queue().submit({&task, 1});
  const ClaimBatch slow = engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"});
  clock.advance(1h);
  for (int i = 0; i < 30; ++i) complete_one();
  clock.advance(10s);
  static_cast<void>(counter.look(engine->now()));
  const Settlement done{slow.claims.at(0).lease, Completed{"{}"}};
  engine->queue().settle({&done, 1});
  const auto news = counter.look(engine->now());
  ASSERT_TRUE(news);
  ASSERT_EQ(news->latest.size(), 1U);
  EXPECT_EQ(news->latest[0].type, "slow");
}

}  // namespace
}  // namespace errand::detail
