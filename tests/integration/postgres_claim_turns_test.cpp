#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
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

constexpr std::size_t kMany = 100;

class PostgresClaimTurnsTest : public ::testing::Test {
 protected:
  PostgresClaimTurnsTest() {
    std::vector<NewTask> tasks(kMany, NewTask{.envelope = Envelope{"note", "1"}});
    for (NewTask& task : tasks) task.id = TaskId::generate();
    engine->queue().submit(tasks);
  }

  [[nodiscard]] std::size_t claim(std::size_t limit) const {
    return engine->queue()
        .claim({.queues = {kDefaultQueue}, .limit = limit, .worker = "w"})
        .claims.size();
  }

  /// Whether a claim comes to wait for the turn of another one.
  [[nodiscard]] bool somebody_waits() const {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (under_test->execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT "
                               "granted AND classid = 'async_tasks'::regclass") != "1") {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
  }

  /// Has the turn until it is destroyed.
  class Holder {
   public:
    explicit Holder(PostgresUnderTest& under_test)
        : connection_{PQconnectdb(under_test.direct().c_str())} {
      PQclear(PQexec(connection_, "BEGIN"));
      PGresult* result = PQexec(connection_,
                                "SELECT pg_advisory_xact_lock('async_tasks'::regclass::oid::int4, "
                                "hashtext('default'))");
      EXPECT_EQ(PQresultStatus(result), PGRES_TUPLES_OK) << PQerrorMessage(connection_);
      PQclear(result);
    }
    ~Holder() { PQfinish(connection_); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    PGconn* connection_;
  };

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_schema();
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
};

TEST_F(PostgresClaimTurnsTest, AClaimOfManyWaitsForTheOneBeforeIt) {
  auto holder = std::make_unique<Holder>(*under_test);
  std::future<std::size_t> claimed = std::async(std::launch::async, [&] { return claim(kMany); });
  EXPECT_TRUE(somebody_waits());
  holder.reset();
  EXPECT_EQ(claimed.get(), kMany);
}

TEST_F(PostgresClaimTurnsTest, AClaimOfAFewDoesNotWait) {
  const Holder holder{*under_test};
  EXPECT_EQ(claim(10), 10U);
}

TEST_F(PostgresClaimTurnsTest, NobodyWaitsForeverForATurn) {
  const Holder holder{*under_test};
  EXPECT_EQ(claim(kMany), kMany);
}

}  // namespace
}  // namespace errand
