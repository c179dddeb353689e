#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand {
namespace {

using testing::PostgresUnderTest;

constexpr std::size_t kMany = 100;

class PostgresClaimTurnsTest : public ::testing::Test {
 protected:
  void submit(std::size_t count) const {
    std::vector<NewTask> tasks(count, NewTask{.envelope = Envelope{"note", "1"}});
    for (NewTask& task : tasks) task.id = TaskId::generate();
    engine->queue().submit(tasks);
  }

  [[nodiscard]] std::vector<Claim> claim(std::size_t limit) const {
    return engine->queue().claim({.queues = {kDefaultQueue}, .limit = limit, .worker = "w"}).claims;
  }

  /// The server counts them by database.
  [[nodiscard]] std::string turns_taken() const {
    return under_test->execute(
        "CREATE EXTENSION IF NOT EXISTS pg_stat_statements;"
        "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE dbid = (SELECT oid FROM "
        "pg_database WHERE datname = current_database()) AND query LIKE "
        "'LOCK TABLE errand_turns%'");
  }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_database();
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
};

TEST_F(PostgresClaimTurnsTest, ClaimsOfManyTakeTurnsThoseOfAFewDoNot) {
  submit(2 * kMany);
  EXPECT_EQ(claim(10).size(), 10U);
  EXPECT_EQ(turns_taken(), "0");
  EXPECT_EQ(claim(kMany).size(), kMany);
  EXPECT_EQ(turns_taken(), "1");
}

/// Keeps others from having their turn until it is destroyed, as a cancel does that is under way.
class Holder {
 public:
  explicit Holder(const PostgresUnderTest& under_test, const std::string& mode = "ROW EXCLUSIVE")
      : connection_{PQconnectdb(under_test.direct().c_str())} {
    PQclear(PQexec(connection_, "BEGIN"));
    PGresult* result =
        PQexec(connection_, ("LOCK TABLE errand_turns IN " + mode + " MODE").c_str());
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection_);
    PQclear(result);
  }
  ~Holder() { PQfinish(connection_); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  PGconn* connection_;
};

TEST_F(PostgresClaimTurnsTest, ATurnThatDoesNotComeIsNotWaitedForForLong) {
  submit(kMany);
  const Holder holder{*under_test};
  EXPECT_EQ(claim(kMany).size(), kMany);
}

/// Whatever is done about tasks of others waits for a claim of many, which is short.
TEST_F(PostgresClaimTurnsTest, WhoeverChangesATaskOfOthersWaitsForTheTurnToEnd) {
  submit(kMany);
  const Holder holder{*under_test, "EXCLUSIVE"};
  EXPECT_THROW(static_cast<void>(claim(1)), StorageException);
  EXPECT_THROW(engine->queue().cancel({{TaskId::generate()}}), StorageException);
  submit(1);
}

/// The transaction that waited in vain is over, and its session does what comes next.
TEST_F(PostgresClaimTurnsTest, AfterATurnThatDidNotComeNothingIsLeftOpen) {
  submit(kMany);
  {
    const Holder holder{*under_test};
    EXPECT_EQ(claim(kMany).size(), kMany);
  }
  submit(kMany);
  EXPECT_EQ(claim(kMany).size(), kMany);
  EXPECT_EQ(under_test->execute("SELECT count(*) FROM pg_stat_activity WHERE datname = "
                                "current_database() AND state LIKE 'idle in transaction%'"),
            "0");
}

}  // namespace
}  // namespace errand
