#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "errand/application.hpp"
#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "contract/postgres_under_test.hpp"
#include "integration/messages.hpp"
#include "support/eventually.hpp"
#include "support/milestone.hpp"
#include "support/running_worker.hpp"

namespace errand {
namespace {

using testing::kPatience;
using testing::PostgresUnderTest;
using testing::RunningWorker;

/// A program's own connection to the database that also holds its tasks.
class PostgresTransactionTest : public ::testing::Test {
 protected:
  explicit PostgresTransactionTest(
      std::unique_ptr<PostgresUnderTest> storage = PostgresUnderTest::in_schema())
      : under_test{std::move(storage)},
        app{under_test->open(EngineOptions::Open::create)},
        connection{PQconnectdb(under_test->direct().c_str())} {
    app.message<shop::Charge>("shop.charge");
    execute("CREATE TABLE accounts (name text PRIMARY KEY, cents bigint NOT NULL)");
    execute("INSERT INTO accounts VALUES ('ada', 1000)");
  }
  ~PostgresTransactionTest() override { PQfinish(connection); }

  std::string execute(const std::string& sql) { return execute(connection, sql); }

  static std::string execute(PGconn* on, const std::string& sql) {
    PGresult* result = PQexec(on, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    std::string value;
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) value = PQgetvalue(result, 0, 0);
    const std::string error = PQerrorMessage(on);
    PQclear(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error{error};
    return value;
  }

  std::int64_t task_count() { return app.engine().catalog().list({}, {}).total; }
  std::string cents() { return execute("SELECT cents FROM accounts WHERE name = 'ada'"); }

  std::unique_ptr<PostgresUnderTest> under_test;
  Application app;
  PGconn* connection;
};

TEST_F(PostgresTransactionTest, ATaskOfATransactionThatRollsBackDoesNotExist) {
  execute("BEGIN");
  const NewTask task = app.tasks().prepare(shop::Charge{5});
  submit_in_transaction(connection, {&task, 1});
  execute("ROLLBACK");
  EXPECT_EQ(task_count(), 0);
  EXPECT_THROW(static_cast<void>(app.tasks().find<void>(task.id).status()), TaskNotFoundException);
}

TEST_F(PostgresTransactionTest, ATaskOfATransactionThatCommitsExistsOnceAndRuns) {
  app.handlers().add<shop::Charge>(
      "shop.charge", [](const shop::Charge& charge) { return shop::Receipt{charge.cents}; });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  execute("BEGIN");
  const NewTask task = app.tasks().prepare(shop::Charge{5});
  submit_in_transaction(connection, {&task, 1});
  EXPECT_EQ(task_count(), 0) << "nobody sees it before the commit";
  execute("COMMIT");
  EXPECT_EQ(app.tasks().find<shop::Receipt>(task.id).get(kPatience).number, 5);
  EXPECT_EQ(task_count(), 1);
}

TEST_F(PostgresTransactionTest, ATaskThatIsNotValidLeavesTheTransactionAsItWas) {
  execute("BEGIN");
  NewTask task = app.tasks().prepare(shop::Charge{5});
  task.queue = "";
  EXPECT_THROW(submit_in_transaction(connection, {&task, 1}), ValidationException);
  EXPECT_EQ(cents(), "1000");
  execute("COMMIT");
}

TEST_F(PostgresTransactionTest, SqlSubmitsInsideTheCallersTransactionToo) {
  execute("BEGIN");
  execute("SELECT errand_submit('shop.charge', '{\"cents\":5}')");
  execute("ROLLBACK");
  EXPECT_EQ(task_count(), 0);

  execute("BEGIN");
  const std::string id = execute(
      "SELECT errand_submit('shop.charge', '{\"cents\":5}', queue => 'mail', "
      "priority => 7, max_retries => 1, headers => '{\"tenant\":\"a\"}')");
  execute("COMMIT");
  const auto record = app.engine().catalog().find(TaskId::from_string(id));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->type, "shop.charge");
  EXPECT_EQ(record->data.payload, "{\"cents\":5}");
  EXPECT_EQ(record->queue, "mail");
  EXPECT_EQ(record->priority, 7);
  EXPECT_EQ(record->retry.max_retries, 1);
  EXPECT_EQ(record->headers.at("tenant"), "a");
  EXPECT_EQ(execute("SELECT errand_status('" + id + "')"), "pending");
  EXPECT_EQ(execute("SELECT errand_cancel('" + id + "')"), "cancelled");
  EXPECT_EQ(execute("SELECT errand_cancel('" + id + "')"), "already_final");
  EXPECT_EQ(execute("SELECT errand_status('" + id + "')"), "cancelled");
  EXPECT_EQ(execute("SELECT errand_cancel(gen_random_uuid())"), "not_found");
}

TEST_F(PostgresTransactionTest, SqlRefusesWhatNoWorkerCouldRun) {
  for (const char* arguments :
       {"''", "repeat('x', 191)", "'a', 'not json'", "'a', '1', queue => ''",
        "'a', '1', priority => 40000", "'a', '1', max_retries => -1",
        "'a', '1', delay => interval '-1 s'", "'a', '1', headers => '[]'",
        R"('a', '1', headers => '{"n":1}')", R"('a', '1', headers => '{"":"x"}')",
        "'a', '1', headers => 'x'", "'a', NULL", "'a', '1', delay => NULL",
        "'a', '1', max_retries => 1000001",
        "'a', '1', task_id => '00000000-0000-4000-0000-000000000001'",
        "'a', '1', task_id => '00000000-0000-1000-8000-000000000001'"}) {
    EXPECT_THROW(execute(std::string{"SELECT errand_submit("} + arguments + ")"),
                 std::runtime_error)
        << arguments;
  }
  EXPECT_EQ(task_count(), 0);
}

TEST_F(PostgresTransactionTest, SqlFunctionsFindTheirTablesWhateverTheCallersSearchPath) {
  const std::string schema = execute("SELECT current_schema()");
  execute("SET search_path = pg_catalog");
  const std::string id = execute("SELECT " + schema + ".errand_submit('note')");
  EXPECT_EQ(execute("SELECT " + schema + ".errand_status('" + id + "')"), "pending");
  EXPECT_EQ(execute("SELECT " + schema + ".errand_cancel('" + id + "')"), "cancelled");
}

TEST_F(PostgresTransactionTest, SqlWakesAWorkerByItsCommit) {
  app.handlers().add_raw("note", [](const Envelope&, TaskContext&) { return std::string{"1"}; });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  const TaskId id = TaskId::from_string(execute("SELECT errand_submit('note')"));
  EXPECT_EQ(app.tasks().find<int>(id).get(kPatience), 1);
}

TEST_F(PostgresTransactionTest, AHandlersEffectsAndItsOutcomeAreStoredTogether) {
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge& charge, TaskContext& context) {
        CompletingTransaction transaction{app.engine(), context};
        execute(transaction.connection(), "UPDATE accounts SET cents = cents - 5");
        return transaction.complete(shop::Receipt{charge.cents});
      });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  const TaskFuture<shop::Receipt> future = app.tasks().submit(shop::Charge{5});
  EXPECT_EQ(future.get(kPatience).number, 5);
  EXPECT_EQ(cents(), "995");
  EXPECT_EQ(worker.stop_and_report().completed, 1);
}

TEST_F(PostgresTransactionTest, AHandlerThatFailsBeforeItCompletesHasNoEffect) {
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
        CompletingTransaction transaction{app.engine(), context};
        execute(transaction.connection(), "UPDATE accounts SET cents = cents - 5");
        throw Unrecoverable{"no"};
      });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  const TaskFuture<shop::Receipt> future = app.tasks().submit(shop::Charge{5});
  EXPECT_THROW(static_cast<void>(future.get(kPatience)), TaskFailedException);
  EXPECT_EQ(cents(), "1000");
}

TEST_F(PostgresTransactionTest, WhatHappensAfterTheCommitChangesNothing) {
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
        CompletingTransaction transaction{app.engine(), context};
        execute(transaction.connection(), "UPDATE accounts SET cents = cents - 5");
        static_cast<void>(transaction.complete(shop::Receipt{7}));
        throw std::runtime_error{"too late"};
      });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  const TaskFuture<shop::Receipt> future = app.tasks().submit(shop::Charge{5});
  EXPECT_EQ(future.get(kPatience).number, 7);
  EXPECT_EQ(cents(), "995");
  EXPECT_EQ(worker.stop_and_report().completed, 1);
}

TEST_F(PostgresTransactionTest, AHandlerThatEndsTheTransactionItselfCannotComplete) {
  std::atomic<int> attempts = 0;
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
        CompletingTransaction transaction{app.engine(), context};
        execute(transaction.connection(), "UPDATE accounts SET cents = cents - 5");
        if (++attempts == 1) execute(transaction.connection(), "ROLLBACK");
        return transaction.complete(shop::Receipt{attempts});
      });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  SubmitOptions options;
  options.retry.delay = std::chrono::milliseconds{1};
  EXPECT_EQ(app.tasks().submit(shop::Charge{5}, options).get(kPatience).number, 2);
  EXPECT_EQ(cents(), "995");
}

TEST_F(PostgresTransactionTest, WhatAHandlerSetsForItsSessionTheNextOneDoesNotFind) {
  std::vector<std::string> found;
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
        CompletingTransaction transaction{app.engine(), context};
        found.push_back(execute(transaction.connection(), "SHOW work_mem"));
        execute(transaction.connection(), "SET work_mem = '77MB'");
        return transaction.complete(shop::Receipt{1});
      });
  WorkerOptions one;
  one.concurrency = 1;
  RunningWorker worker{app.engine(), app.handlers(), one};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(app.tasks().submit(shop::Charge{5}).get(kPatience).number, 1);
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], found[1]);
}

TEST_F(PostgresTransactionTest, SomebodysRowLockDoesNotCostTheOtherTasksTheirLeases) {
  const NewTask tasks[]{app.tasks().prepare(shop::Charge{1}), app.tasks().prepare(shop::Charge{2})};
  app.engine().queue().submit(tasks);
  const ClaimBatch batch =
      app.engine().queue().claim({.queues = {kDefaultQueue}, .limit = 2, .worker = "w"});
  ASSERT_EQ(batch.claims.size(), 2U);
  const std::vector<Lease> leases{batch.claims[0].lease, batch.claims[1].lease};
  execute("BEGIN");
  execute("SELECT errand_cancel('" + leases[0].id.to_string() + "')");
  under_test->execute("UPDATE async_tasks SET lease_expires_at = now() WHERE task_id = '" +
                      leases[1].id.to_string() + "'");
  for (const LeaseState& state : app.engine().queue().extend(leases, std::chrono::seconds{15})) {
    EXPECT_FALSE(state.lost);
  }
  EXPECT_TRUE(app.engine().queue().rescue({}).empty());
  // Its outcome cannot be stored before that transaction ends; the other's can.
  const Settlement locked{leases[0], Completed{"1"}};
  EXPECT_THROW(app.engine().queue().settle({&locked, 1}), StorageException);
  const Settlement free{leases[1], Completed{"1"}};
  EXPECT_EQ(app.engine().queue().settle({&free, 1}).front(), SettleStatus::settled);
  execute("COMMIT");
  EXPECT_EQ(app.engine().queue().settle({&locked, 1}).front(), SettleStatus::settled);
}

TEST_F(PostgresTransactionTest, AConnectionThatTheServerHasClosedIsNotUsed) {
  static_cast<void>(task_count());
  execute(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = "
      "'errand' "
      "AND "
      "pid <> pg_backend_pid() AND query LIKE '%async_tasks%'");
  EXPECT_NO_THROW(static_cast<void>(task_count()));
}

/// Claims are bundles here, whatever their size (decision 0040).
class PostgresBundledTransactionTest : public PostgresTransactionTest {
 protected:
  PostgresBundledTransactionTest() : PostgresTransactionTest{PostgresUnderTest::in_bundles()} {}
};

TEST_F(PostgresBundledTransactionTest, ALeaseThatIsExtendedMeanwhileIsNotLost) {
  testing::Milestone begun;
  testing::Milestone may_complete;
  app.handlers().add<shop::Charge>("shop.charge",
                                   [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
                                     CompletingTransaction transaction{app.engine(), context};
                                     begun.reach();
                                     EXPECT_TRUE(may_complete.was_reached());
                                     return transaction.complete(shop::Receipt{7});
                                   });
  RunningWorker worker{app.engine(), app.handlers(), {}};
  const TaskFuture<shop::Receipt> future = app.tasks().submit(shop::Charge{5});
  ASSERT_TRUE(begun.was_reached());
  ASSERT_EQ(under_test->execute("SELECT count(*) FROM errand_bundles"), "1");
  // What an extension does, which commits while complete() waits for the row.
  execute("BEGIN");
  execute(
      "UPDATE async_tasks SET status = 'running', version = 2, attempts = 1, started_at = now(), "
      "worker = (SELECT worker FROM errand_bundles), lease_expires_at = now() + interval '15 s'");
  may_complete.reach();
  ASSERT_TRUE(testing::eventually([&] {
    return under_test->execute(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = "
               "'Lock' AND query LIKE '%errand_bundles%' AND pid <> "
               "pg_backend_pid() AND datname = current_database()") != "0";
  }));
  execute("COMMIT");
  EXPECT_EQ(future.get(kPatience).number, 7);
  EXPECT_EQ(under_test->execute("SELECT attempts FROM async_tasks"), "1");
}

TEST_F(PostgresTransactionTest, AnAttemptThatLostItsLeaseHasNoEffect) {
  std::atomic<int> attempts = 0;
  app.handlers().add<shop::Charge>(
      "shop.charge", [&](const shop::Charge&, TaskContext& context) -> shop::Receipt {
        const int attempt = ++attempts;
        if (attempt == 1) {
          // Somebody else takes the task over while this attempt is at work. Its worker may extend
          // the lease just then, as it does when it begins to hear of cancellations.
          do {
            under_test->pass_time(std::chrono::hours{1});
          } while (app.engine().queue().rescue({}).empty());
        }
        CompletingTransaction transaction{app.engine(), context};
        execute(transaction.connection(), "UPDATE accounts SET cents = cents - 5");
        return transaction.complete(shop::Receipt{attempt});
      });
  WorkerOptions options;
  options.concurrency = 1;
  RunningWorker worker{app.engine(), app.handlers(), options};
  const TaskFuture<shop::Receipt> future = app.tasks().submit(shop::Charge{5});
  EXPECT_EQ(future.get(kPatience).number, 2);
  EXPECT_EQ(cents(), "995") << "once, though two attempts did it";
}

TEST_F(PostgresTransactionTest, ItNeedsAWorkerAndPostgres) {
  TaskContext context{TaskId::generate()};
  EXPECT_THROW(CompletingTransaction(app.engine(), context), ConfigurationException);
}

}  // namespace
}  // namespace errand
