/// What is special about the connections to PostgreSQL.
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <thread>

#include "errand/errors.hpp"

#include "distributor_upgrade/database_under_test.hpp"
#include "distributor_upgrade/store/database.hpp"
#include "support/milestone.hpp"

namespace errand::distributors {
namespace {

using ::testing::HasSubstr;
using Steady = std::chrono::steady_clock;

class PostgresConnections : public ::testing::Test {
 protected:
  /// What `body` fails with, in a transaction.
  static std::string failure(Database& database, const Database::Body& body) {
    try {
      database.read(body);
    } catch (const StorageException& error) {
      EXPECT_EQ(error.retry(), StorageException::Retry::helps);
      return error.what();
    }
    return "";
  }

  static std::string first_value(Session& session, const std::string& sql) {
    return session.run(sql).rows.at(0).at(0).text();
  }

  DatabaseUnderTest storage_{Kind::postgres};
};

TEST_F(PostgresConnections, AStatementThatTakesTooLongIsEndedByTheServer) {
  const auto database = open_database(storage_.dsn("reply_timeout=1"));
  EXPECT_THAT(failure(*database, [](Session& session) { session.run("SELECT pg_sleep(60)"); }),
              HasSubstr("statement timeout"));
  database->read([](Session& session) { EXPECT_EQ(first_value(session, "SELECT 7"), "7"); });
}

TEST_F(PostgresConnections, AServerThatDoesNotAnswerIsGivenUp) {
  const auto database = open_database(storage_.dsn("reply_timeout=1"));
  pid_t server = 0;
  const std::string said = failure(*database, [&](Session& session) {
    server = std::stoi(first_value(session, "SELECT pg_backend_pid()"));
    ASSERT_EQ(::kill(server, SIGSTOP), 0);
    session.run("SELECT 1");
  });
  EXPECT_EQ(::kill(server, SIGCONT), 0);
  EXPECT_THAT(said, HasSubstr("did not answer for 1 s"));
  database->read([](Session& session) { EXPECT_EQ(first_value(session, "SELECT 7"), "7"); });
}

TEST_F(PostgresConnections, NoMoreAreUsedThanTheDsnAllows) {
  const auto database = open_database(storage_.dsn("reply_timeout=1&connections=1"));
  testing::Milestone used;
  testing::Milestone refused;
  std::jthread user{[&] {
    database->read([&](Session&) {
      used.reach();
      EXPECT_TRUE(refused.was_reached());
    });
  }};
  ASSERT_TRUE(used.was_reached());
  EXPECT_THAT(failure(*database, [](Session&) {}), HasSubstr("raise connections=N"));
  refused.reach();
  user.join();
  EXPECT_EQ(failure(*database, [](Session&) {}), "");
}

TEST_F(PostgresConnections, ClosedOnesAreReplacedBeforeAnythingRuns) {
  const auto database = open_database(storage_.dsn());
  // Two at once, which are idle together afterwards.
  std::string servers;
  database->read([&](Session& outer) {
    servers = first_value(outer, "SELECT pg_backend_pid()");
    database->read(
        [&](Session& inner) { servers += "), (" + first_value(inner, "SELECT pg_backend_pid()"); });
  });
  open_database(storage_.dsn())->write([&](Session& session) {
    session.run("SELECT pg_terminate_backend(pid, 60000) FROM (VALUES (" + servers +
                ")) AS servers (pid)");
  });
  int runs = 0;
  database->read([&](Session& session) {
    ++runs;
    EXPECT_EQ(first_value(session, "SELECT 7"), "7");
  });
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace errand::distributors
