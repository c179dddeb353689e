#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "errand/engine.hpp"

#include "contract/postgres_under_test.hpp"
#include "support/milestone.hpp"

namespace errand {
namespace {

using testing::kPatience;
using testing::PostgresUnderTest;

constexpr int kBacklog = 20'000;

/// Plain, and as behind a pooler, where nothing is set for the session.
class PostgresPlanTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// The server publishes what it counted a moment later.
  [[nodiscard]] int rows_read() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      const std::string scans = under_test->execute(
          "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE relid = 'async_tasks'::regclass");
      if (scans != "0") {
        return std::stoi(
            under_test->execute("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables "
                                "WHERE relid = 'async_tasks'::regclass"));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    throw std::runtime_error{"the server does not count"};
  }

  static std::string waiting_tasks() {
    return "INSERT INTO async_tasks (task_id, status, payload, submitted_at, version, queue_name, "
           "type, available_at) SELECT overlay(gen_random_uuid()::text placing '4' from 15)::uuid, "
           "'pending', '1', now(), 1, 'default', 'note', now() FROM generate_series(1, " +
           std::to_string(kBacklog) + ")";
  }

  void complete_all() {
    under_test->execute(
        "UPDATE async_tasks SET status = 'completed', result = '1', version = 3, "
        "started_at = now(), completed_at = now()");
  }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_schema(GetParam());
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
};

TEST_P(PostgresPlanTest, AClaimReadsWhatItTakesWhateverTheStatisticsSay) {
  under_test->execute("ALTER TABLE async_tasks SET (autovacuum_enabled = false)");
  under_test->execute(waiting_tasks());
  under_test->execute("ANALYZE async_tasks");
  // As after a burst into a table that was empty when the server last looked.
  under_test->execute(
      "UPDATE pg_class SET reltuples = 0, relpages = 300 WHERE oid IN ('async_tasks'::regclass, "
      "'idx_status'::regclass, 'idx_claimable'::regclass)");
  const ClaimBatch batch =
      engine->queue().claim({.queues = {"default"}, .limit = 10, .worker = "w"});
  EXPECT_EQ(batch.claims.size(), 10U);
  engine.reset();  // the server counts what a session did when it ends
  EXPECT_LT(rows_read(), kBacklog / 10);
}

TEST_P(PostgresPlanTest, AListReadsWhatItShows) {
  under_test->execute("ALTER TABLE async_tasks SET (autovacuum_enabled = false)");
  under_test->execute(waiting_tasks());
  under_test->execute("ANALYZE async_tasks");
  PageRequest request{.page = 1, .page_size = 20, .documents = false, .count = false};
  const TaskPage newest = engine->catalog().list({}, request);
  ASSERT_EQ(newest.items.size(), 20U);
  request.after = newest.next;
  EXPECT_EQ(engine->catalog().list({{TaskStatus::pending}, {}, {}}, request).items.size(), 20U);
  EXPECT_TRUE(engine->catalog().list({{TaskStatus::failed}, {}, {}}, request).items.empty());
  EXPECT_TRUE(engine->catalog().find(newest.items.front().data.id).has_value());
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 10);
}

TEST_P(PostgresPlanTest, AListOfCompletedTasksReadsWhatItShows) {
  under_test->execute("ALTER TABLE async_tasks SET (autovacuum_enabled = false)");
  under_test->execute(waiting_tasks());
  complete_all();
  under_test->execute("ANALYZE async_tasks");
  under_test->execute("SELECT pg_stat_reset()");
  PageRequest request{.page = 1, .page_size = 20, .documents = false, .count = false};
  request.after = engine->catalog().list({}, request).next;
  const TaskPage second = engine->catalog().list({{TaskStatus::completed}, {}, {}}, request);
  EXPECT_EQ(second.items.size(), 20U);
  EXPECT_TRUE(second.next.has_value());
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 10);
}

TEST_P(PostgresPlanTest, SettlingAndExtendingReadWhatTheyChangeWhateverTheStatisticsSay) {
  under_test->execute("ALTER TABLE async_tasks SET (autovacuum_enabled = false)");
  // As when the server last looked before anything had been claimed.
  under_test->execute(waiting_tasks());
  under_test->execute("ANALYZE async_tasks");
  under_test->execute(
      "UPDATE async_tasks SET status = 'running', started_at = now(), version = 2, worker = "
      "'other', "
      "lease_expires_at = now() + interval '1 hour' WHERE seq > 10");
  const ClaimBatch batch =
      engine->queue().claim({.queues = {"default"}, .limit = 10, .worker = "w"});
  ASSERT_EQ(batch.claims.size(), 10U);
  std::vector<Lease> leases;
  std::vector<Settlement> settlements;
  for (const Claim& claim : batch.claims) {
    leases.push_back(claim.lease);
    settlements.push_back({claim.lease, Completed{"1"}});
  }
  under_test->execute("SELECT pg_stat_reset()");
  for (const LeaseState& state : engine->queue().extend(leases, std::chrono::minutes{1})) {
    EXPECT_FALSE(state.lost);
  }
  for (const SettleStatus status : engine->queue().settle(settlements)) {
    EXPECT_EQ(status, SettleStatus::settled);
  }
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 10);
}

TEST_P(PostgresPlanTest, WhatBundlesHoldIsFoundByItsNumberWhateverTheStatisticsSay) {
  under_test->execute("ALTER TABLE async_tasks SET (autovacuum_enabled = false)");
  // As when all was done when the server last looked.
  under_test->execute(waiting_tasks());
  complete_all();
  under_test->execute("ANALYZE async_tasks");
  under_test->execute("TRUNCATE async_tasks");
  under_test->execute(waiting_tasks());
  constexpr std::size_t kHeld = 1000;
  ASSERT_EQ(
      engine->queue().claim({.queues = {"default"}, .limit = kHeld, .worker = "w"}).claims.size(),
      kHeld);
  under_test->execute("UPDATE errand_bundles SET lease_expires_at = now() - interval '1 s'");
  under_test->execute(
      "UPDATE async_tasks SET lease_expires_at = now() - interval '1 s' WHERE status = 'running'");
  under_test->execute("SELECT pg_stat_reset()");
  EXPECT_EQ(engine->queue().held_by("w").size(), kHeld);
  const PageRequest request{.page = 1, .page_size = 20, .documents = false};
  EXPECT_EQ(engine->catalog().list({{TaskStatus::running}, {}, {}}, request).total, kHeld);
  EXPECT_EQ(engine->queue().rescue({.limit = 100, .max_crashes = 3}).size(), 100U);
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 2);
}

/// In a database of its own: transactions of other tests would keep VACUUM from its work.
class PostgresCountTest : public PostgresPlanTest {
 protected:
  PostgresCountTest() {
    engine.reset();
    under_test = PostgresUnderTest::in_database();
    engine = under_test->open(EngineOptions::Open::create);
  }
};

TEST_P(PostgresCountTest, ReadsAnIndexAndNoTasks) {
  under_test->execute(waiting_tasks());
  under_test->execute("VACUUM ANALYZE async_tasks");  // says of all pages that an index will do
  const PageRequest request{.page = 1, .page_size = 1, .documents = false};
  EXPECT_EQ(engine->catalog().list({}, request).total, kBacklog);
  const TaskPage pending = engine->catalog().list({{TaskStatus::pending}, {}, {}}, request);
  EXPECT_EQ(pending.total, kBacklog);
  EXPECT_TRUE(engine->catalog().find(pending.items.front().data.id).has_value());
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 10);
}

TEST_P(PostgresCountTest, OfCompletedTasksReadsAnIndexAndNoTasks) {
  under_test->execute(waiting_tasks());
  complete_all();
  under_test->execute("VACUUM ANALYZE async_tasks");
  under_test->execute("SELECT pg_stat_reset()");
  const PageRequest request{.page = 1, .page_size = 1, .documents = false};
  EXPECT_EQ(engine->catalog().list({{TaskStatus::completed}, {}, {}}, request).total, kBacklog);
  EXPECT_EQ(engine->catalog().stats().tasks.at(static_cast<std::size_t>(TaskStatus::completed)),
            kBacklog);
  engine.reset();
  EXPECT_LT(rows_read(), kBacklog / 10);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresCountTest, ::testing::Values(""));

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresPlanTest,
                         ::testing::Values("", "&prepare=no&listen=no"));

}  // namespace
}  // namespace errand
