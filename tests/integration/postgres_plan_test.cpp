#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>

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
  [[nodiscard]] int counted(const std::string& what) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      const std::string claims =
          under_test.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE schemaname = '" +
                             under_test.schema() + "' AND indexrelname = 'async_tasks_pkey'");
      if (claims != "0") return std::stoi(under_test.execute(what));
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    throw std::runtime_error{"the server does not count"};
  }

  PostgresUnderTest under_test{GetParam()};
  std::unique_ptr<Engine> engine = under_test.open(EngineOptions::Open::create);
};

TEST_P(PostgresPlanTest, AClaimReadsWhatItTakesWhateverTheStatisticsSay) {
  const std::string table = under_test.schema() + ".async_tasks";
  under_test.execute("ALTER TABLE " + table + " SET (autovacuum_enabled = false)");
  under_test.execute(
      "INSERT INTO " + table +
      " (task_id, status, payload, submitted_at, version, queue_name, type, available_at) "
      "SELECT overlay(gen_random_uuid()::text placing '4' from 15)::uuid, 'pending', '1', now(), "
      "1, "
      "'default', 'note', now() FROM generate_series(1, " +
      std::to_string(kBacklog) + ")");
  under_test.execute("ANALYZE " + table);
  // As after a burst into a table that was empty when the server last looked.
  under_test.execute("UPDATE pg_class SET reltuples = 0, relpages = 300 WHERE oid IN ('" + table +
                     "'::regclass, '" + under_test.schema() + ".idx_status'::regclass, '" +
                     under_test.schema() + ".idx_claimable'::regclass)");
  const ClaimBatch batch =
      engine->queue().claim({.queues = {"default"}, .limit = 10, .worker = "w"});
  EXPECT_EQ(batch.claims.size(), 10U);
  engine.reset();  // the server counts what a session did when it ends
  EXPECT_LT(counted("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables "
                    "WHERE relid = '" +
                    table + "'::regclass"),
            kBacklog / 10);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresPlanTest,
                         ::testing::Values("", "&prepare=no&listen=no"));

}  // namespace
}  // namespace errand
