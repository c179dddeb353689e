#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "errand/application.hpp"
#include "errand/async_get.hpp"

#include "contract/postgres_under_test.hpp"
#include "integration/messages.hpp"
#include "support/milestone.hpp"
#include "support/running_worker.hpp"

namespace errand {
namespace {

using testing::kPatience;
using testing::Milestone;
using testing::PostgresUnderTest;
using testing::RunningWorker;

constexpr std::size_t kWaiting = 1000;
constexpr std::chrono::seconds kWindow{4};

class PostgresIdleTest : public ::testing::Test {
 protected:
  PostgresIdleTest() { under_test->execute("CREATE EXTENSION pg_stat_statements"); }

  /// Of the database under test, without those that ask.
  [[nodiscard]] std::string statements(const std::string& what) const {
    return under_test->execute(
        "SELECT " + what +
        " FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid "
        "WHERE datname = current_database() AND query NOT LIKE '%pg_stat_statements%'");
  }
  [[nodiscard]] int count() const { return std::stoi(statements("coalesce(sum(calls), 0)")); }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_database();
  const Dsn dsn{*under_test->dsn()};
};

TEST_F(PostgresIdleTest, AWorkerAndAThousandFuturesMakeFewerThanFiveQueriesASecond) {
  Application app{dsn};
  app.handle<shop::Charge>("shop.charge",
                           [](const shop::Charge& charge) { return shop::Receipt{charge.cents}; });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  Milestone ended;
  {
    // For tasks that will not be due.
    Application client{dsn};
    client.message<shop::Charge>("shop.charge");
    SubmitOptions later;
    later.delay = std::chrono::hours{1};
    for (const auto& future :
         client.tasks().submit_all(std::vector<shop::Charge>(kWaiting), later)) {
      future.async_get([&](const std::exception_ptr&, const shop::Receipt&) { ended.reach(); });
    }
    // Everybody has begun to wait when this one is through.
    EXPECT_EQ(client.tasks().submit(shop::Charge{3}).get(kPatience).number, 3);

    // A rate has to be measured: this takes its time.
    const int before = count();
    std::this_thread::sleep_for(kWindow);
    const int made = count() - before;
    EXPECT_LT(made, 5 * kWindow.count())
        << statements("string_agg(calls || ' x ' || query, E'\\n')");
    EXPECT_GT(made, 0) << "they are counted at all";
    RecordProperty("queries", made);

    // And they wait by listening: a task is through long before the next look.
    EXPECT_EQ(client.tasks().submit(shop::Charge{4}).get(kPatience).number, 4);
  }
  EXPECT_TRUE(ended.was_reached(kWaiting));
}

}  // namespace
}  // namespace errand
