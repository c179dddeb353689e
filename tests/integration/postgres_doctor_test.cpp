#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "errand/engine.hpp"
#include "errand/postgres.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand {
namespace {

using testing::PostgresUnderTest;

class PostgresDoctorTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<Finding> found_about(const std::string& subject,
                                                 const std::string& options = "") const {
    const auto asked = open_postgres(Dsn{under_test->direct() + options}, {});
    std::vector<Finding> findings = asked->diagnose();
    std::erase_if(findings, [&](const Finding& finding) { return finding.subject != subject; });
    return findings;
  }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_schema();
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
};

TEST_F(PostgresDoctorTest, AnIsolationThatDoesNotSuitAQueueMattersOnlyWhereErrandCannotSetIt) {
  const std::string serializable = "%20-cdefault_transaction_isolation%3Dserializable";
  EXPECT_TRUE(found_about("isolation", serializable).empty());
  const std::vector<Finding> findings = found_about("isolation", serializable + "&prepare=no");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Finding::Severity::warning);
  EXPECT_NE(findings[0].fix.find("read committed"), std::string::npos);
}

TEST_F(PostgresDoctorTest, ADatabaseThatIsReadOnlyByDefaultIsTold) {
  EXPECT_TRUE(found_about("writing").empty());
  const std::vector<Finding> findings =
      found_about("writing", "%20-cdefault_transaction_read_only%3Don");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Finding::Severity::problem);
}

TEST_F(PostgresDoctorTest, MissingRightsAreNamed) {
  const std::string schema = under_test->execute("SELECT current_schema()");
  const std::string role = schema + "_reader";
  under_test->execute("CREATE ROLE " + role + "; GRANT USAGE ON SCHEMA " + schema + " TO " + role +
                      "; GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO " + role +
                      "; GRANT INSERT, UPDATE, DELETE ON async_tasks, errand_bundles,"
                      " errand_paused_queues TO " +
                      role + "; GRANT INSERT ON errand_workers TO " + role +
                      "; REVOKE SELECT ON errand_tasks FROM " + role);
  const std::vector<Finding> lacking = found_about("rights", "%20-crole%3D" + role);
  under_test->execute("GRANT INSERT, UPDATE, DELETE ON errand_turns, errand_workers TO " + role +
                      "; GRANT SELECT ON errand_tasks TO " + role);
  const std::vector<Finding> enough = found_about("rights", "%20-crole%3D" + role);
  under_test->execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
  ASSERT_EQ(lacking.size(), 1U);
  EXPECT_EQ(lacking[0].severity, Finding::Severity::problem);
  EXPECT_NE(lacking[0].detail.find(
                "INSERT, UPDATE, DELETE on errand_turns; SELECT on errand_tasks; UPDATE, DELETE on"
                " errand_workers"),
            std::string::npos)
      << lacking[0].detail;
  ASSERT_EQ(enough.size(), 1U);
  EXPECT_EQ(enough[0].severity, Finding::Severity::ok);
}

TEST_F(PostgresDoctorTest, TasksThatNobodyRescuesAreTold) {
  const std::vector<NewTask> tasks(1, {.envelope = Envelope{"note", "1"}});
  engine->queue().submit(tasks);
  ASSERT_EQ(
      engine->queue().claim({.queues = {kDefaultQueue}, .limit = 1, .worker = "w"}).claims.size(),
      1U);
  EXPECT_TRUE(found_about("queue default").empty()) << "its lease is good";
  under_test->pass_time(std::chrono::minutes{1});
  const std::vector<Finding> findings = found_about("queue default");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].detail.find("lost"), std::string::npos) << findings[0].detail;
  engine->workers().beat({.worker = "other", .queues = {kDefaultQueue}}, std::chrono::minutes{1});
  EXPECT_TRUE(found_about("queue default").empty()) << "somebody does";
}

}  // namespace
}  // namespace errand
