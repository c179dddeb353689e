#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "errand/engine.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand {
namespace {

using testing::PostgresUnderTest;

/// What each change waits for, as a trigger in its transaction sees it at the commit.
class PostgresDurabilityTest : public ::testing::Test {
 protected:
  PostgresDurabilityTest() {
    under_test->execute("CREATE TABLE seen (n serial, status text, commit text)");
    under_test->execute(
        "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO seen (status, commit) "
        "VALUES (NEW.status, current_setting('synchronous_commit')); RETURN NULL; END $$");
    under_test->execute(
        "CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE ON async_tasks "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()");
  }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_schema();
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
};

TEST_F(PostgresDurabilityTest, SubmitsAndOutcomesWaitForTheDiskAndClaimsDoNot) {
  const NewTask task{.envelope = Envelope{"note", "1"}, .retry = {}};
  engine->queue().submit({&task, 1});
  ClaimRequest request;
  request.queues = {task.queue};
  request.limit = 1;
  request.worker = "w";
  const ClaimBatch batch = engine->queue().claim(request);
  ASSERT_EQ(batch.claims.size(), 1U);
  const Settlement settlement{batch.claims[0].lease, Completed{"1"}};
  ASSERT_EQ(engine->queue().settle({&settlement, 1}).at(0), SettleStatus::settled);
  EXPECT_EQ(under_test->execute("SELECT string_agg(status || ' ' || commit, ', ' ORDER BY n) "
                                "FROM seen"),
            "pending on, running off, completed on");
}

}  // namespace
}  // namespace errand
