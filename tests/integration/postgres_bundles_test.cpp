#include <algorithm>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "errand/engine.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;
using testing::PostgresUnderTest;

/// Claims of many tasks are stored as one row (decision 0040). The contract suite runs with bundles
/// of any size; here is what it cannot see: rows, other programs, and who stands in whose way.
class PostgresBundlesTest : public ::testing::Test {
 protected:
  static constexpr milliseconds kLease{15'000};

  /// With bundles of 50 tasks or more, as users have them.
  void begin_as_it_comes() {
    engine.reset();
    other.reset();
    under_test = PostgresUnderTest::in_schema();
    engine = under_test->open(EngineOptions::Open::create);
    other = under_test->open(EngineOptions::Open::create);
  }

  void submit(std::size_t count) const {
    std::vector<NewTask> tasks(count, NewTask{.envelope = Envelope{"note", "1"}});
    for (NewTask& task : tasks) task.id = TaskId::generate();
    engine->queue().submit(tasks);
  }

  static std::vector<Claim> claim(Engine& by, std::size_t limit, const std::string& worker = "w") {
    return by.queue()
        .claim({.queues = {kDefaultQueue}, .limit = limit, .worker = worker, .lease = kLease})
        .claims;
  }
  [[nodiscard]] std::vector<Claim> claim(std::size_t limit) const { return claim(*engine, limit); }

  static std::vector<Settlement> completed(const std::vector<Claim>& claims) {
    std::vector<Settlement> settlements;
    for (const Claim& claim : claims) settlements.push_back({claim.lease, Completed{"1"}});
    return settlements;
  }

  static ExceptionData error() {
    ExceptionData data;
    data.class_name = "E";
    return data;
  }

  static std::size_t settled(Engine& by, const std::vector<Settlement>& settlements) {
    std::size_t count = 0;
    for (const SettleStatus status : by.queue().settle(settlements)) {
      if (status == SettleStatus::settled) ++count;
    }
    return count;
  }

  TaskId submit_urgent() {
    NewTask urgent{.envelope = Envelope{"note", "1"}, .priority = 5};
    urgent.id = TaskId::generate();
    engine->queue().submit(std::span{&urgent, 1});
    return urgent.id;
  }
  static bool is_among(const TaskId& id, const std::vector<Claim>& claims) {
    return std::ranges::any_of(claims, [&](const Claim& it) { return it.lease.id == id; });
  }

  [[nodiscard]] std::string sql(const std::string& text) const { return under_test->execute(text); }
  [[nodiscard]] std::string rows(const std::string& status) const {
    return sql("SELECT count(*) FROM async_tasks WHERE status = '" + status + "'");
  }
  [[nodiscard]] std::string bundles() const { return sql("SELECT count(*) FROM errand_bundles"); }
  [[nodiscard]] TaskStatus seen(const Claim& claim) const {
    return engine->catalog().find(claim.lease.id)->data.status;
  }

  std::unique_ptr<PostgresUnderTest> under_test = PostgresUnderTest::in_bundles();
  std::unique_ptr<Engine> engine = under_test->open(EngineOptions::Open::create);
  std::unique_ptr<Engine> other = under_test->open(EngineOptions::Open::create);
};

TEST_F(PostgresBundlesTest, ATaskIsWrittenOnceAndItsBundleGoesWithItsLastOne) {
  submit(100);
  const std::vector<Claim> claims = claim(100);
  ASSERT_EQ(claims.size(), 100U);
  EXPECT_EQ(bundles(), "1");
  EXPECT_EQ(rows("pending"), "100") << "untouched";
  EXPECT_EQ(sql("SELECT count(*) FROM async_tasks WHERE version <> 1"), "0");
  EXPECT_EQ(settled(*engine, completed(claims)), 100U);
  EXPECT_EQ(sql("SELECT count(*) FROM async_tasks WHERE status = 'completed' AND version = 3 AND "
                "attempts = 1 AND worker = 'w' AND started_at <= completed_at"),
            "100");
  EXPECT_EQ(bundles(), "0");
}

/// As it comes, bundles are for backlogs.
TEST_F(PostgresBundlesTest, WithoutABacklogTasksAreClaimedRowByRow) {
  begin_as_it_comes();
  submit(49);
  EXPECT_EQ(claim(1000).size(), 49U);
  EXPECT_EQ(bundles(), "0");
  submit(200);
  EXPECT_EQ(claim(1000).size(), 200U);
  EXPECT_EQ(bundles(), "1");
  EXPECT_EQ(rows("running"), "98") << "49 of each";
  EXPECT_EQ(engine->queue().held_by("w").size(), 249U);
}

TEST_F(PostgresBundlesTest, BundlesThatAreDoneWithGoWithTheNextClaim) {
  submit(90);
  const std::vector<Claim> first = claim(30);
  const std::vector<Claim> second = claim(30);
  EXPECT_EQ(settled(*engine, completed(first)), 30U);
  EXPECT_EQ(claim(30).size(), 30U);
  EXPECT_EQ(bundles(), "2");
}

TEST_F(PostgresBundlesTest, ReadersSeeWhatIsHeldAsRunning) {
  submit(100);
  const std::vector<Claim> claims = claim(60);
  const TaskRecord record = *engine->catalog().find(claims.front().lease.id);
  EXPECT_EQ(record.data.status, TaskStatus::running);
  EXPECT_EQ(record.data.version, 2);
  EXPECT_EQ(record.attempts, 1);
  EXPECT_EQ(record.worker, "w");
  EXPECT_TRUE(record.data.started_at && record.lease_expires_at);
  EXPECT_EQ(other->storage().load(claims.front().lease.id)->status, TaskStatus::running);
  const TaskStats stats = engine->catalog().stats();
  EXPECT_EQ(stats.tasks[static_cast<std::size_t>(TaskStatus::running)], 60);
  EXPECT_EQ(stats.tasks[static_cast<std::size_t>(TaskStatus::pending)], 40);
  ASSERT_EQ(stats.queues.size(), 1U);
  EXPECT_EQ(stats.queues.front().due, 40);
  EXPECT_EQ(stats.queues.front().running, 60);
  const TaskPage running = engine->catalog().list({{TaskStatus::running}, {}, {}}, {});
  EXPECT_EQ(running.total, 60);
  for (const TaskRecord& item : running.items) EXPECT_EQ(item.data.status, TaskStatus::running);
  const TaskPage pending = engine->catalog().list({{TaskStatus::pending}, {}, {}}, {});
  EXPECT_EQ(pending.total, 40);
  for (const TaskRecord& item : pending.items) EXPECT_EQ(item.data.status, TaskStatus::pending);
  EXPECT_EQ(engine->catalog().list({}, {}).total, 100);
  EXPECT_EQ(other->queue().held_by("w").size(), 60U);
}

TEST_F(PostgresBundlesTest, AnExtensionMakesRowsOfWhatIsStillHeld) {
  submit(100);
  const std::vector<Claim> claims = claim(100);
  std::vector<Lease> leases;
  for (const Claim& claim : claims) leases.push_back(claim.lease);
  for (const LeaseState& state : engine->queue().extend(leases, std::chrono::minutes{1})) {
    EXPECT_FALSE(state.lost || state.cancel_requested);
  }
  EXPECT_EQ(rows("running"), "100");
  under_test->pass_time(kLease + kLease);
  EXPECT_TRUE(other->queue().rescue({}).empty()) << "their own leases are longer";
  EXPECT_EQ(bundles(), "0");
  EXPECT_EQ(settled(*engine, completed(claims)), 100U);
}

TEST_F(PostgresBundlesTest, WhatADeadWorkerHeldIsRescuedAndItsOutcomesAreRefused) {
  submit(100);
  const std::vector<Claim> claims = claim(100);
  under_test->pass_time(kLease + milliseconds{1});
  EXPECT_EQ(other->queue().rescue({.limit = 60}).size(), 60U);
  EXPECT_EQ(bundles(), "1") << "40 are still held";
  EXPECT_EQ(other->queue().rescue({.limit = 60}).size(), 40U);
  EXPECT_EQ(bundles(), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM async_tasks WHERE status = 'retrying' AND crashes = 1 AND "
                "attempts = 0 AND version = 3"),
            "100");
  EXPECT_EQ(settled(*engine, completed(claims)), 0U);
  EXPECT_EQ(claim(*other, 100, "v").size(), 100U);
  EXPECT_EQ(settled(*engine, completed(claims)), 0U) << "not another one's attempt, either";
}

TEST_F(PostgresBundlesTest, AHistoryThatIsNoneKeepsNobodyFromBeingRescued) {
  submit(4);
  ASSERT_EQ(claim(4).size(), 4U);
  static_cast<void>(sql("UPDATE errand_bundles SET lease_expires_at = now()"));
  static_cast<void>(
      sql("UPDATE async_tasks SET history = (ARRAY[NULL, 'none', '{}', '[1]'])[seq - (SELECT "
          "min(seq) FROM async_tasks) + 1]"));
  EXPECT_EQ(engine->queue().rescue({}).size(), 4U);
  EXPECT_EQ(sql("SELECT string_agg(json_array_length(history::json)::text, ' ' ORDER BY seq) FROM "
                "async_tasks"),
            "1 1 1 2");
}

TEST_F(PostgresBundlesTest, ALeaseThatRanOutCountsUntilSomebodyRescues) {
  submit(60);
  const std::vector<Claim> claims = claim(60);
  under_test->pass_time(kLease + kLease);
  EXPECT_EQ(settled(*engine, completed(claims)), 60U);
}

TEST_F(PostgresBundlesTest, AnotherEngineObjectMaySettle) {
  submit(60);
  const std::vector<Claim> claims = claim(60);
  EXPECT_EQ(settled(*other, completed(claims)), 60U);
  EXPECT_EQ(settled(*engine, completed(claims)), 0U) << "once";
  EXPECT_TRUE(claim(1).empty());
  EXPECT_EQ(bundles(), "0");
}

TEST_F(PostgresBundlesTest, AllKindsOfOutcomesAreStored) {
  submit(5);
  const std::vector<Claim> claims = claim(5);
  const std::vector<Settlement> settlements{{claims[0].lease, Completed{"1"}},
                                            {claims[1].lease, Failed{error()}},
                                            {claims[2].lease, Retried{error()}},
                                            {claims[3].lease, CancelHonoured{}},
                                            {claims[4].lease, Released{}}};
  EXPECT_EQ(settled(*engine, settlements), 5U);
  EXPECT_EQ(seen(claims[1]), TaskStatus::failed);
  EXPECT_EQ(seen(claims[3]), TaskStatus::cancelled);
  EXPECT_EQ(engine->catalog().find(claims[2].lease.id)->attempts, 1);
  EXPECT_EQ(engine->catalog().find(claims[4].lease.id)->attempts, 0);
}

TEST_F(PostgresBundlesTest, ARetriedTaskIsClaimedWhileItsBundleIsStillThere) {
  submit(100);
  const std::vector<Claim> claims = claim(100);
  const std::vector<Settlement> retried{{claims[7].lease, Retried{error()}}};
  EXPECT_EQ(settled(*engine, retried), 1U);
  const std::vector<Claim> again = claim(*other, 100, "v");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.front().lease.version, 4);
  EXPECT_EQ(bundles(), "1");
  EXPECT_EQ(settled(*engine, completed(claims)), 99U);
  EXPECT_EQ(settled(*other, completed(again)), 1U);
}

TEST_F(PostgresBundlesTest, WhatWasTriedBeforeDoesNotWaitForTheEndOfABacklog) {
  begin_as_it_comes();
  submit(20'000);
  std::vector<Settlement> settlements = completed(claim(500));
  ASSERT_EQ(settlements.size(), 500U);
  std::set<TaskId> handed_back;
  for (std::size_t i = 0; i < 5; ++i) {
    settlements[i].outcome = Released{};  // to the front of the queue
    handed_back.insert(settlements[i].lease.id);
  }
  EXPECT_EQ(settled(*engine, settlements), 500U);
  while (!handed_back.empty()) {
    const std::vector<Claim> claims = claim(500);
    ASSERT_FALSE(claims.empty()) << "the queue is empty, and they were not claimed";
    for (const Claim& claimed : claims) handed_back.erase(claimed.lease.id);
    settled(*engine, completed(claims));
  }
  EXPECT_NE(rows("pending"), "0") << "they came last";
}

/// Its cost is shared by all who claim.
TEST_F(PostgresBundlesTest, OneOfAllWorkersLooksFromTheBeginning) {
  submit(10'000);
  ASSERT_EQ(claim(*engine, 1000).size(), 1000U);
  ASSERT_EQ(claim(*other, 1000, "v").size(), 1000U);
  const TaskId urgent = submit_urgent();
  static_cast<void>(sql("UPDATE errand_bundles SET scan_due_at = now() + interval '1 hour'"));
  EXPECT_FALSE(is_among(urgent, claim(*other, 1000, "v"))) << "somebody has looked";
  static_cast<void>(sql("UPDATE errand_bundles SET scan_due_at = now()"));
  EXPECT_TRUE(is_among(urgent, claim(*other, 1000, "v"))) << "it is time";
  EXPECT_EQ(sql("SELECT scan_due_at - claimed_at BETWEEN interval '100 ms' AND interval '1 s'"
                " FROM errand_bundles ORDER BY claimed_at DESC LIMIT 1"),
            "t")
      << "not so soon again";
}

/// What a dead worker left says that somebody has looked just now, and where to go on, for as long
/// as the clock was put back.
TEST_F(PostgresBundlesTest, BundlesThatAreYetToBeMadeSayNothing) {
  submit(20'000);
  ASSERT_EQ(claim(*engine, 1000).size(), 1000U);
  ASSERT_EQ(claim(*other, 1000, "v").size(), 1000U);
  static_cast<void>(sql(
      "UPDATE errand_bundles SET claimed_at = claimed_at + interval '1 hour', lease_expires_at ="
      " lease_expires_at + interval '1 hour', scan_due_at = scan_due_at + interval '1 hour'"));
  const TaskId urgent = submit_urgent();
  std::vector<Claim> claims;
  do {
    claims = claim(*other, 50, "v");
    ASSERT_FALSE(claims.empty()) << "the queue is empty, and it was not claimed";
  } while (!is_among(urgent, claims));
  EXPECT_NE(sql("SELECT count(*) FROM errand_tasks WHERE status = 'pending'"), "0");
}

TEST_F(PostgresBundlesTest, ASmallClaimTellsNobodyToLookAgain) {
  begin_as_it_comes();
  submit(5'000);
  ASSERT_EQ(claim(*engine, 1000).size(), 1000U);
  static_cast<void>(sql("UPDATE errand_bundles SET scan_due_at = now() + interval '1 hour'"));
  ASSERT_EQ(claim(*other, 80, "v").size(), 80U);
  EXPECT_EQ(sql("SELECT string_agg(cardinality(seqs)::text, ' ' ORDER BY claimed_at)"
                " FROM errand_bundles WHERE scan_due_at > now() + interval '1 minute'"),
            "951 31");
}

TEST_F(PostgresBundlesTest, WhereMostWereTriedBeforeAllLookFromTheBeginning) {
  submit(200);
  static_cast<void>(
      sql("UPDATE async_tasks SET status = 'retrying', version = 3, attempts = 1,"
          " started_at = submitted_at WHERE seq IN (SELECT seq FROM async_tasks ORDER BY seq LIMIT"
          " 100)"));
  EXPECT_EQ(claim(*engine, 160).size(), 160U);
  EXPECT_EQ(sql("SELECT cardinality(seqs) FROM errand_bundles WHERE scan_due_at = claimed_at"),
            "60");
}

TEST_F(PostgresBundlesTest, AHeldTaskIsAskedToStop) {
  submit(60);
  const std::vector<Claim> claims = claim(60);
  const TaskId id = claims.front().lease.id;
  EXPECT_EQ(other->queue().cancel({{id}}).front(), CancelStatus::requested);
  EXPECT_EQ(rows("running"), "1");
  EXPECT_TRUE(engine->queue().extend({{claims.front().lease}}, kLease).front().cancel_requested);
  EXPECT_EQ(settled(*engine, {{claims.front().lease, CancelHonoured{}}}), 1U);
}

TEST_F(PostgresBundlesTest, TheSqlFunctionsKnowWhatIsHeld) {
  submit(60);
  const std::vector<Claim> claims = claim(59);
  const std::string held = "'" + claims.front().lease.id.to_string() + "'";
  EXPECT_EQ(sql("SELECT errand_status(" + held + ")"), "running");
  EXPECT_EQ(sql("SELECT errand_cancel(" + held + ")"), "requested");
  EXPECT_EQ(sql("SELECT errand_status(" + held + ")"), "running");
  EXPECT_TRUE(engine->queue().extend({{claims.front().lease}}, kLease).front().cancel_requested);
  EXPECT_EQ(sql("SELECT errand_cancel(task_id) FROM errand_tasks WHERE status = 'pending'"),
            "cancelled");
}

/// Keeps a transaction open.
class Session {
 public:
  explicit Session(const PostgresUnderTest& under_test)
      : connection_{PQconnectdb(under_test.direct().c_str())} {
    run("BEGIN");
  }
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::string run(const std::string& text) {
    PGresult* result = PQexec(connection_, text.c_str());
    std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return value;
  }

 private:
  PGconn* connection_;
};

/// Nobody could extend a lease meanwhile. SHARE lets everybody read, and only keeps them from
/// changing anything.
TEST_F(PostgresBundlesTest, NobodyIsLostWhereLeasesCouldNotBeExtended) {
  submit(2);
  ASSERT_EQ(claim(2).size(), 2U);
  static_cast<void>(sql("UPDATE errand_bundles SET lease_expires_at = now()"));
  for (const char* lock :
       {"errand_bundles IN ACCESS EXCLUSIVE MODE", "async_tasks IN SHARE MODE"}) {
    std::optional<Session> session{std::in_place, *under_test};
    session->run(std::string{"LOCK TABLE "} + lock);
    std::future<std::size_t> rescued = std::async(std::launch::async, [this]() -> std::size_t {
      try {
        return engine->queue().rescue({}).size();
      } catch (const StorageException&) {
        return 0;  // it waited for longer than it may
      }
    });
    while (sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0") {
    }
    std::this_thread::sleep_for(milliseconds{1200});  // so that it has waited for longer than that
    session.reset();
    EXPECT_EQ(rescued.get(), 0U) << lock;
  }
  EXPECT_TRUE(engine->queue().rescue({.limit = 0}).empty()) << "only a look";
  EXPECT_EQ(engine->queue().rescue({}).size(), 2U) << "it answers at once now";
}

TEST_F(PostgresBundlesTest, ACancelInATransactionThatStaysOpenHoldsUpThatTaskAlone) {
  submit(60);
  const std::string id = sql("SELECT task_id FROM async_tasks ORDER BY seq LIMIT 1");
  Session session{*under_test};
  EXPECT_EQ(session.run("SELECT errand_cancel('" + id + "')"), "cancelled");
  const std::vector<Claim> claims = claim(60);
  EXPECT_EQ(claims.size(), 59U);
  EXPECT_EQ(bundles(), "1") << "its turn came";
  session.run("COMMIT");
  EXPECT_EQ(rows("cancelled"), "1");
}

TEST_F(PostgresBundlesTest, ALockedRowIsNeitherRescuedNorLost) {
  submit(60);
  const std::vector<Claim> claims = claim(60);
  Session session{*under_test};
  session.run("SELECT 1 FROM async_tasks WHERE task_id = '" + claims[3].lease.id.to_string() +
              "' FOR UPDATE");
  EXPECT_FALSE(engine->queue().extend({{claims[3].lease}}, kLease).front().lost);
  under_test->execute("UPDATE errand_bundles SET lease_expires_at = now() - interval '1 s'");
  EXPECT_EQ(other->queue().rescue({}).size(), 59U);
  EXPECT_EQ(bundles(), "1");
  session.run("ROLLBACK");
  EXPECT_EQ(settled(*engine, {{claims[3].lease, Completed{"1"}}}), 1U);
}

TEST_F(PostgresBundlesTest, ASmallClaimPassesOverWhatIsHeld) {
  begin_as_it_comes();
  submit(205);
  EXPECT_EQ(claim(200).size(), 200U);
  EXPECT_EQ(claim(*other, 10, "v").size(), 5U);
  EXPECT_TRUE(claim(*other, 10, "v").empty());
}

TEST_F(PostgresBundlesTest, SeveralEnginesNeverShareATask) {
  constexpr std::size_t kTasks = 3000;
  begin_as_it_comes();
  submit(kTasks);
  const std::vector<std::size_t> limits{300, 70, 10, 200};
  std::vector<std::vector<TaskId>> ids(limits.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::unique_ptr<Engine> mine = under_test->open(EngineOptions::Open::create);
      const std::string worker = "w" + std::to_string(i);
      while (true) {
        const std::vector<Claim> claims = claim(*mine, limits[i], worker);
        if (claims.empty()) return;
        for (const Claim& claim : claims) ids[i].push_back(claim.lease.id);
        EXPECT_EQ(settled(*mine, completed(claims)), claims.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<TaskId> all;
  for (const auto& some : ids) all.insert(some.begin(), some.end());
  std::size_t sum = 0;
  for (const auto& some : ids) sum += some.size();
  EXPECT_EQ(sum, kTasks);
  EXPECT_EQ(all.size(), kTasks);
  EXPECT_EQ(rows("completed"), std::to_string(kTasks));
}

/// They may change their tasks' rows: a held one gets a row of its own first.
TEST_F(PostgresBundlesTest, ARecordThatIsSavedIsTakenFromItsWorker) {
  submit(60);
  const std::vector<Claim> claims = claim(60);
  TaskData task = *other->storage().load(claims.front().lease.id);
  EXPECT_EQ(task.version, 2);
  other->storage().save(task);
  EXPECT_EQ(other->storage().load(task.id)->version, 3);
  EXPECT_EQ(settled(*engine, {{claims.front().lease, Completed{"1"}}}), 0U);
  other->storage().update_status(claims[1].lease.id, TaskStatus::cancelled, 2);
  EXPECT_EQ(settled(*engine, {{claims[1].lease, Completed{"1"}}}), 0U);
  other->storage().remove(claims[2].lease.id);
  EXPECT_EQ(settled(*engine, {{claims[2].lease, Completed{"1"}}}), 0U);
}

}  // namespace
}  // namespace errand
