#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <random>
#include <thread>

#include "errand/errors.hpp"

#include "invoice_intake/database_under_test.hpp"

namespace errand::invoices {
namespace {

using ::testing::HasSubstr;

/// A connection as programs have it, but without the layer that adds the user to every statement:
/// what is left is PostgreSQL's own row-level security.
class RawConnection {
 public:
  explicit RawConnection(const std::string& dsn) : connection_{PQconnectdb(dsn.c_str())} {
    if (PQstatus(connection_) != CONNECTION_OK) throw std::runtime_error{"no connection"};
  }
  ~RawConnection() { PQfinish(connection_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  struct Answer {
    bool done = false;
    std::string state{};
    std::vector<std::string> first_column{};
    int affected = 0;
  };

  Answer run(const std::string& sql) {
    PGresult* result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    Answer answer{.done = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK};
    if (const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE)) answer.state = state;
    for (int row = 0; row < PQntuples(result); ++row) {
      answer.first_column.emplace_back(PQgetvalue(result, row, 0));
    }
    answer.affected = std::atoi(PQcmdTuples(result));
    PQclear(result);
    return answer;
  }

  void begin_for(const UserId& user) {
    run("BEGIN; SELECT set_config('request.jwt.claim.sub', '" + user.text() + "', true)");
  }

 private:
  PGconn* connection_;
};

class RowLevelSecurity : public ::testing::Test {
 protected:
  std::string insert_task(const UserId& user) {
    return "INSERT INTO email_processing_tasks (user_id, email_subject) VALUES ('" + user.text() +
           "', 'x') RETURNING user_id";
  }

  PostgresUnderTest under_test;
  std::unique_ptr<Database> database = open_database(Dsn{under_test.dsn()});
  Profile ann = add_profile(*database, "ann@example.com", "Ann");
  Profile bob = add_profile(*database, "bob@example.com", "Bob");
};

TEST_F(RowLevelSecurity, TheProgramsRoleCannotBypassIt) {
  const std::string role = "rolname = '" + std::string{kProgramRole} + "'";
  EXPECT_EQ(under_test.execute("SELECT count(*) FROM pg_roles WHERE NOT rolsuper AND NOT "
                               "rolbypassrls AND NOT rolcreaterole AND " +
                               role),
            "1");
  EXPECT_EQ(under_test.execute("SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = "
                               "m.member WHERE " +
                               role),
            "0")
      << "it could become somebody else";
  EXPECT_EQ(under_test.execute(
                "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE "
                "c.relnamespace = 'public'::regnamespace AND " +
                role),
            "0")
      << "an owner could switch it off";
  EXPECT_EQ(under_test.execute("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class "
                               "WHERE relrowsecurity AND relforcerowsecurity"),
            "email_processing_tasks,invoices,profiles");
  EXPECT_EQ(
      under_test.execute("SELECT count(DISTINCT (tablename, cmd)) FROM pg_policies WHERE "
                         "cmd IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AND roles = '{public}'"),
      "12")
      << "four kinds of statement on three tables";
  RawConnection raw{under_test.dsn()};
  EXPECT_FALSE(raw.run("ALTER TABLE invoices DISABLE ROW LEVEL SECURITY").done);
  EXPECT_FALSE(raw.run("ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY").done);
  EXPECT_FALSE(raw.run("DROP POLICY \"Users can view own invoices\" ON invoices").done);
  EXPECT_FALSE(raw.run("SET row_security = off; SELECT * FROM invoices").done);
  EXPECT_FALSE(raw.run("TRUNCATE invoices").done) << "TRUNCATE knows no policies";
}

TEST_F(RowLevelSecurity, ARoleThatCouldBypassItIsRefused) {
  try {
    static_cast<void>(open_database(Dsn{under_test.owner_dsn()}));
    FAIL() << "a superuser was accepted";
  } catch (const StorageException& error) {
    EXPECT_THAT(error.what(), HasSubstr("errand_invoices"));
  }
  const std::string role = "bypasser_" + std::to_string(getpid());
  under_test.execute("CREATE ROLE " + role + " LOGIN BYPASSRLS");
  EXPECT_THROW(set_up(Dsn{under_test.owner_dsn()}, {.role = role}), StorageException);
  under_test.execute("DROP ROLE " + role);
}

TEST_F(RowLevelSecurity, IsClosedWhereNoUserIsSet) {
  RawConnection raw{under_test.dsn()};
  raw.begin_for(ann.user_id);
  ASSERT_TRUE(raw.run(insert_task(ann.user_id)).done);
  raw.run("COMMIT");
  EXPECT_TRUE(raw.run("SELECT 1 FROM email_processing_tasks").first_column.empty())
      << "the user of the last transaction must be forgotten";
  EXPECT_TRUE(raw.run("SELECT 1 FROM profiles").first_column.empty());
  EXPECT_EQ(raw.run(insert_task(ann.user_id)).state, "42501");
  EXPECT_EQ(raw.run("UPDATE email_processing_tasks SET status = 'failed'").affected, 0);
  EXPECT_EQ(raw.run("DELETE FROM email_processing_tasks").affected, 0);
  EXPECT_EQ(under_test.execute("SELECT count(*) FROM email_processing_tasks"), "1");
}

TEST_F(RowLevelSecurity, ARowCannotBeGivenAway) {
  RawConnection raw{under_test.dsn()};
  raw.begin_for(ann.user_id);
  raw.run(insert_task(ann.user_id));
  EXPECT_EQ(
      raw.run("UPDATE email_processing_tasks SET user_id = '" + bob.user_id.text() + "'").state,
      "42501");
}

TEST_F(RowLevelSecurity, HoldsTheOwnerToo) {
  const std::string role = "owner_" + std::to_string(getpid());
  under_test.execute("CREATE ROLE " + role +
                     " NOSUPERUSER; ALTER TABLE email_processing_tasks OWNER TO " + role +
                     "; GRANT USAGE ON SCHEMA auth TO " + role);
  RawConnection raw{under_test.dsn()};
  raw.begin_for(ann.user_id);
  raw.run(insert_task(ann.user_id));
  raw.run("COMMIT");
  EXPECT_EQ(
      under_test.execute("SET ROLE " + role + "; SELECT count(*) FROM email_processing_tasks"),
      "0");
  under_test.execute("ALTER TABLE email_processing_tasks OWNER TO errand; DROP OWNED BY " + role +
                     "; DROP ROLE " + role);
}

/// Statements without any condition on the user, through the program's own pool, with more threads
/// than it has connections, so that each serves both users: all that is seen or changed must be the
/// current user's.
TEST_F(RowLevelSecurity, OneHundredThousandRandomStatementsTouchNoForeignRow) {
  constexpr int kThreads = 6;
  constexpr std::size_t kConnections = 3;
  constexpr int kStatements = 100'000;
  constexpr int kATransaction = 20;
  const std::unique_ptr<Database> pool =
      open_database(Dsn{under_test.dsn()}, {.connections = kConnections});
  std::atomic<int> statements = 0;
  std::atomic<int> reads = 0;
  std::atomic<int> writes = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> foreign = 0;
  const std::string reading[] = {
      "SELECT user_id FROM email_processing_tasks WHERE $1 <> '' LIMIT 20",
      "SELECT user_id FROM invoices WHERE $1 <> '' LIMIT 20",
      "SELECT auth_user_id FROM profiles WHERE $1 <> ''"};
  const std::string writing[] = {
      "INSERT INTO email_processing_tasks (user_id, email_subject) VALUES ($1::uuid, 'x') "
      "RETURNING "
      "user_id",
      "INSERT INTO invoices (user_id, invoice_number) VALUES ($1::uuid, gen_random_uuid()::text) "
      "RETURNING user_id",
      "UPDATE email_processing_tasks SET retry_count = retry_count + 1 WHERE $1 <> '' AND id IN "
      "(SELECT id FROM email_processing_tasks ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED) "
      "RETURNING "
      "user_id",
      "UPDATE invoices SET remark = 'seen' WHERE $1 <> '' AND id IN (SELECT id FROM invoices ORDER "
      "BY id LIMIT 2 FOR UPDATE SKIP LOCKED) RETURNING user_id",
      "DELETE FROM email_processing_tasks WHERE $1 <> '' AND id IN (SELECT id FROM "
      "email_processing_tasks ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING user_id",
      "DELETE FROM invoices WHERE $1 <> '' AND id IN (SELECT id FROM invoices ORDER BY id LIMIT 1 "
      "FOR UPDATE SKIP LOCKED) RETURNING user_id"};
  const std::string trespassing[] = {
      "INSERT INTO email_processing_tasks (user_id) SELECT $2::uuid WHERE $1 <> ''",
      "INSERT INTO invoices (user_id, invoice_number) SELECT $2::uuid, '1' WHERE $1 <> ''",
      "UPDATE profiles SET auth_user_id = $2::uuid WHERE $1 <> ''"};
  const std::string reaching[] = {
      "UPDATE email_processing_tasks SET status = 'failed' WHERE $1 <> '' AND user_id = $2::uuid",
      "UPDATE invoices SET remark = 'foreign' WHERE $1 <> '' AND user_id = $2::uuid",
      "UPDATE profiles SET display_name = 'foreign' WHERE $1 <> '' AND auth_user_id = $2::uuid"};

  const auto work = [&](int thread) {
    std::mt19937 random{static_cast<unsigned>(thread) + 7};
    const auto pick = [&](const auto& choices) { return choices[random() % std::size(choices)]; };
    while (statements < kStatements) {
      const bool is_ann = random() % 2 == 0;
      const UserId& me = is_ann ? ann.user_id : bob.user_id;
      const UserId& other = is_ann ? bob.user_id : ann.user_id;
      const auto look = [&](const Rows& rows) {
        for (const std::vector<Text>& row : rows.rows) {
          if (row.at(0) != me.text()) ++foreign;
        }
      };
      try {
        pool->write(me, [&](Session& session) {
          for (int i = 0; i < kATransaction; ++i) {
            ++statements;
            const unsigned kind = random() % 16;
            if (kind == 0) {
              if (session.run(pick(reaching), {other.text()}).affected > 0) ++foreign;
              ++writes;
            } else if (kind < 8) {
              look(session.run(pick(writing)));
              ++writes;
            } else {
              look(session.run(pick(reading)));
              ++reads;
            }
          }
          if (random() % 4 == 0) {
            ++statements;
            session.run(pick(trespassing), {other.text()});
            ++foreign;  // it was not refused
          }
        });
      } catch (const StorageException& error) {
        EXPECT_THAT(error.what(), HasSubstr("42501"));
        ++refused;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  }
  EXPECT_EQ(foreign, 0);
  EXPECT_GE(statements, kStatements);
  EXPECT_GT(refused, 100);
  EXPECT_GT(reads, 40'000);
  EXPECT_GT(writes, 40'000);
  EXPECT_LE(std::stoi(under_test.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = "
                                         "'errand_invoices' AND datname = current_database()")),
            static_cast<int>(kConnections) + 1)
      << "the pool opened more than it may; one is the fixture's";
  EXPECT_EQ(under_test.execute(
                "SELECT (SELECT count(*) FROM email_processing_tasks WHERE status = 'failed') + "
                "(SELECT count(*) FROM invoices WHERE remark = 'foreign') + "
                "(SELECT count(*) FROM profiles WHERE display_name = 'foreign')"),
            "0")
      << "only foreign rows were ever to be changed so";
}

}  // namespace
}  // namespace errand::invoices
