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
