#include <chrono>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/sqlite.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/sqlite_file.hpp"

namespace errand {
namespace {

using namespace std::chrono_literals;

/// A program's own connection to the file that also holds its tasks.
class SqliteTransactionTest : public ::testing::Test {
 protected:
  SqliteTransactionTest() { sqlite3_open(file.dsn().path().c_str(), &connection); }
  ~SqliteTransactionTest() override { sqlite3_close(connection); }

  void execute(const char* sql) const {
    ASSERT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
  }

  testing::SqliteFile file;
  std::unique_ptr<Engine> engine = file.open();
  sqlite3* connection = nullptr;
  NewTask task{.envelope = Envelope{"a.type", R"({"a":1})"}};
};

TEST_F(SqliteTransactionTest, ATaskOfATransactionThatRollsBackDoesNotExist) {
  execute("BEGIN IMMEDIATE");
  submit_in_transaction(connection, {&task, 1});
  execute("ROLLBACK");
  EXPECT_EQ(engine->storage().load(task.id), std::nullopt);
}

TEST_F(SqliteTransactionTest, ATaskOfATransactionThatCommitsCanBeClaimed) {
  execute("BEGIN IMMEDIATE");
  submit_in_transaction(connection, {&task, 1});
  EXPECT_EQ(engine->storage().load(task.id), std::nullopt) << "nobody sees it before the commit";
  execute("COMMIT");
  ClaimRequest request;
  request.queues = {kDefaultQueue};
  request.worker = "a worker";
  const ClaimBatch batch = engine->queue().claim(request);
  ASSERT_EQ(batch.claims.size(), 1U);
  EXPECT_EQ(batch.claims[0].lease.id, task.id);
  EXPECT_EQ(batch.claims[0].envelope.body(), R"({"a":1})");
}

TEST_F(SqliteTransactionTest, TheCallersClockDecidesWhenItIsDue) {
  task.delay = 1h;
  const testing::FakeClock clock{system_clock().now() - 2h};
  execute("BEGIN IMMEDIATE");
  submit_in_transaction(connection, {&task, 1}, clock);
  execute("COMMIT");
  ClaimRequest request;
  request.queues = {kDefaultQueue};
  EXPECT_EQ(engine->queue().claim(request).claims.size(), 1U);
}

TEST_F(SqliteTransactionTest, ATaskThatIsNotValidLeavesTheTransactionAsItWas) {
  task.queue = "";
  execute("BEGIN IMMEDIATE");
  EXPECT_THROW(submit_in_transaction(connection, {&task, 1}), ValidationException);
  execute("COMMIT");
  EXPECT_EQ(engine->storage().load(task.id), std::nullopt);
}

}  // namespace
}  // namespace errand
