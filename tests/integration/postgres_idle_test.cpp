#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
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

/// A database of its own: the server counts statements by database.
class PostgresIdleTest : public ::testing::Test {
 protected:
  PostgresIdleTest() {
    execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    execute("CREATE DATABASE " + name);
  }
  ~PostgresIdleTest() override { execute("DROP DATABASE " + name + " WITH (FORCE)"); }

  [[nodiscard]] std::string dsn() const {
    std::string text = PostgresUnderTest::server();
    const std::string shared = "///postgres?";
    return text.replace(text.find(shared), shared.size(), "///" + name + "?");
  }

  static std::string execute(const std::string& sql) { return PostgresUnderTest::execute(sql); }

  [[nodiscard]] int statements() const {
    return std::stoi(
        execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d "
                "ON d.oid = s.dbid WHERE datname = '" +
                name + "'"));
  }

  const std::string name = "idle_" + std::to_string(getpid());
};

TEST_F(PostgresIdleTest, AWorkerAndAThousandFuturesMakeFewerThanFiveQueriesASecond) {
  Application app{Dsn{dsn()}};
  app.handle<shop::Charge>("shop.charge",
                           [](const shop::Charge& charge) { return shop::Receipt{charge.cents}; });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  Milestone ended;
  {
    // For tasks that will not be due.
    Application client{Dsn{dsn()}};
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
    const int before = statements();
    std::this_thread::sleep_for(kWindow);
    const int made = statements() - before;
    EXPECT_LT(made, 5 * kWindow.count()) << execute(
        "SELECT string_agg(calls || ' x ' || query, E'\\n') FROM pg_stat_statements s JOIN "
        "pg_database d ON d.oid = s.dbid WHERE datname = '" +
        name + "'");
    EXPECT_GT(made, 0) << "they are counted at all";
    RecordProperty("queries", made);

    // And they wait by listening: a task is through long before the next look.
    EXPECT_EQ(client.tasks().submit(shop::Charge{4}).get(kPatience).number, 4);
  }
  EXPECT_TRUE(ended.was_reached(kWaiting));
}

}  // namespace
}  // namespace errand
