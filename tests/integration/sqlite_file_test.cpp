#include <atomic>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "errand/errors.hpp"
#include "errand/sqlite.hpp"
#include "errand/testing/fake_clock.hpp"
#include "errand/testing/signal_probe.hpp"

#include "engine/sqlite/connection.hpp"
#include "engine/sqlite/statements.hpp"
#include "support/milestone.hpp"
#include "support/temp_dir.hpp"

/// What is SQLite's alone: the file, its neighbours, and what other programs write into it.
namespace errand::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class SqliteFileTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Engine> open(const fs::path& path,
                                      EngineOptions::Open how = EngineOptions::Open::create) {
    EngineOptions options;
    options.open = how;
    return open_sqlite(Dsn{"sqlite://" + path.string()}, options);
  }

  [[nodiscard]] std::unique_ptr<Engine> open_with(const Clock& clock) const {
    EngineOptions options;
    options.clock = &clock;
    options.open = EngineOptions::Open::create;
    return open_sqlite(Dsn{"sqlite://" + path.string()}, options);
  }

  /// Another program.
  [[nodiscard]] Connection connect() const {
    return Connection{{.path = path.string(), .mode = Connection::Mode::existing}};
  }

  static TaskId submit(Engine& engine) {
    NewTask task{.envelope = Envelope{"a.type", "1"}};
    engine.queue().submit({&task, 1});
    return task.id;
  }

  testing::TempDir directory;
  fs::path path = directory / "tasks.db";
};

TEST_F(SqliteFileTest, ByWhateverNameItIsOpenedTheSignalsArrive) {
  const auto engine = open(path);
  fs::create_symlink(path, directory / "link.db");
  const auto by_link = open(directory / "link.db");
  testing::SignalProbe probe{*by_link, Signal::work};
  submit(*engine);
  EXPECT_TRUE(probe.hears());
  EXPECT_FALSE(fs::exists(directory / "link.db-wake"));
}

TEST_F(SqliteFileTest, TheWakeFileIsForThoseWhoMayUseTheDatabase) {
  open(path).reset();
  fs::remove(path.string() + "-wake");
  ASSERT_EQ(chmod(path.c_str(), 0660), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(chown(path.c_str(), 1234, 1234), 0);
  }
  open(path).reset();
  struct stat wake {};
  ASSERT_EQ(stat((path.string() + "-wake").c_str(), &wake), 0);
  EXPECT_EQ(wake.st_mode & 0777, 0660U);
  EXPECT_EQ(wake.st_uid, root ? 1234U : geteuid());
}

TEST_F(SqliteFileTest, WhoOnlyLooksLeavesAFileThatIsNotOursAsItIs) {
  for (const char* content : {"SQLite's it is not: a text", ""}) {
    { std::ofstream{path} << content; }
    for (const auto how : {EngineOptions::Open::existing, EngineOptions::Open::inspect}) {
      EXPECT_THROW(open(path, how), StorageException);
    }
    std::ifstream file{path};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), content);
    EXPECT_FALSE(fs::exists(path.string() + "-wake"));
  }
  fs::remove(path);
  Connection foreign{{.path = path.string(), .mode = Connection::Mode::create}};
  foreign.execute("PRAGMA journal_mode = DELETE; CREATE TABLE theirs (a)");
  EXPECT_THROW(open(path, EngineOptions::Open::existing), StorageException);
  Statement mode = foreign.prepare_once("PRAGMA journal_mode");
  mode.step();
  EXPECT_EQ(mode.text(0), "delete");
}

TEST_F(SqliteFileTest, WhatIsInTheWayIsNamed) {
  EXPECT_THAT([&] { open(directory / "none" / "tasks.db"); },
              ThrowsMessage<StorageException>(
                  AllOf(HasSubstr("there is no directory"), HasSubstr("none"))));
  fs::create_directory(path);
  EXPECT_THAT([&] { open(path); }, ThrowsMessage<StorageException>(HasSubstr("is a directory")));
}

TEST_F(SqliteFileTest, OtherProgramsCannotStoreWhatNobodyCanRead) {
  const auto engine = open(path);
  submit(*engine);
  Connection other = connect();
  for (const char* set : {"task_id = 'F47AC10B-58CC-4372-A567-0E02B2C3D479'", "task_id = '1'",
                          "submitted_at = 'yesterday'", "submitted_at = '2026-01-31T23:59:59Z'",
                          "submitted_at = 5", "available_at = '2026-01-31'", "available_at = NULL",
                          "status = 'done'", "status = 'running'",
                          "status = 'completed', result = '1'", "lease_expires_at = 'tomorrow'"}) {
    EXPECT_THROW(other.execute(std::string{"UPDATE async_tasks SET "} + set), StorageException)
        << set;
  }
  EXPECT_EQ(engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims.size(), 1U);
}

/// SQLite takes json_valid() in a schema that it does not trust for unsafe.
TEST_F(SqliteFileTest, OtherTablesMayHaveRulesAboutJson) {
  const auto engine = open(path);
  submit(*engine);
  connect().execute("CREATE TABLE orders (body TEXT CHECK (json_valid(body)))");
  EXPECT_EQ(engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims.size(), 1U);
}

TEST_F(SqliteFileTest, OtherProgramsMayLeaveOutFractionsOfSeconds) {
  const auto engine = open(path);
  submit(*engine);
  connect().execute(
      "UPDATE async_tasks SET submitted_at = '2026-01-31 23:59:59', "
      "available_at = '2026-01-31 23:59:59'");
  EXPECT_EQ(engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims.size(), 1U);
}

TEST_F(SqliteFileTest, DamagedMetadataDoesNotKeepATaskFromRunning) {
  for (const char* set : {R"(retry_policy = '{"delay_ms":1.5,"jitter":"x"}')", "retry_policy = 'x'",
                          "retry_policy = '[]'", "headers = '{'", "headers = '7'", "progress = 'x'",
                          "history = 'x'"}) {
    SCOPED_TRACE(set);
    fs::remove(path);
    const auto engine = open(path);
    const TaskId id = submit(*engine);
    connect().execute(std::string{"UPDATE async_tasks SET "} + set);
    EXPECT_TRUE(engine->catalog().find(id));
    const auto claims = engine->queue().claim({.queues = {kDefaultQueue}, .worker = "w"}).claims;
    ASSERT_EQ(claims.size(), 1U);
    ExceptionData error;
    error.class_name = "E";
    EXPECT_EQ(claims.front().retry, RetryPolicy{});
    const Settlement failed{claims.front().lease, Retried{error, {}}};
    EXPECT_THAT(engine->queue().settle({&failed, 1}),
                ::testing::ElementsAre(SettleStatus::settled));
  }
}

/// Whatever a worker does all the time must not get slower with the tasks that lie there.
TEST_F(SqliteFileTest, HotStatementsFindTheirRowsByIndex) {
  open(path).reset();
  Connection connection = connect();
  for (const char* sql : {sql::kClaim, sql::kClaimSuspects, sql::kNextPriority, sql::kComplete,
                          sql::kExpiredLeases, sql::kFinished, sql::kExtend}) {
    Statement plan = connection.prepare_once(std::string{"EXPLAIN QUERY PLAN "} + sql);
    while (plan.step()) {
      EXPECT_THAT(std::string{plan.text(3)}, Not(HasSubstr("SCAN"))) << sql;
    }
  }
}

TEST_F(SqliteFileTest, ALeaseBeginsWhenTheFileIsFreeNotWhenItWasAskedFor) {
  testing::FakeClock clock;
  const auto engine = open_with(clock);
  submit(*engine);
  submit(*engine);
  const ClaimRequest request{.queues = {kDefaultQueue}, .limit = 1, .worker = "w"};
  const std::vector<Claim> claims = engine->queue().claim(request).claims;
  ASSERT_EQ(claims.size(), 1U);
  Connection other = connect();
  other.execute("BEGIN IMMEDIATE");
  testing::Milestone begins;
  std::thread waits{[&] {
    begins.reach();
    EXPECT_FALSE(engine->queue().extend(std::vector{claims[0].lease}, request.lease)[0].lost);
    EXPECT_EQ(engine->queue().claim(request).claims.size(), 1U);
  }};
  EXPECT_TRUE(begins.was_reached());
  std::this_thread::sleep_for(std::chrono::milliseconds{100});  // so that it waits by now
  clock.advance(2 * request.lease);
  other.execute("COMMIT");
  waits.join();
  EXPECT_TRUE(engine->queue().rescue({}).empty());
}

TEST_F(SqliteFileTest, NobodyIsLostWhereLeasesCouldNotBeExtended) {
  testing::FakeClock clock;
  const auto engine = open_with(clock);
  submit(*engine);
  const ClaimRequest request{.queues = {kDefaultQueue}, .limit = 1, .worker = "w"};
  ASSERT_EQ(engine->queue().claim(request).claims.size(), 1U);
  clock.advance(2 * request.lease);
  Connection other = connect();
  other.execute("BEGIN IMMEDIATE");
  testing::Milestone begins;
  std::thread waits{[&] {
    begins.reach();
    EXPECT_TRUE(engine->queue().rescue({}).empty());
  }};
  EXPECT_TRUE(begins.was_reached());
  std::this_thread::sleep_for(std::chrono::milliseconds{1500});  // longer than a look may take
  other.execute("COMMIT");
  waits.join();
  EXPECT_TRUE(engine->queue().rescue({.limit = 0}).empty()) << "only a look";
  EXPECT_EQ(engine->queue().rescue({}).size(), 1U) << "the file is free now";
}

TEST_F(SqliteFileTest, ManyReadersShareAFewFiles) {
  const auto engine = open(path);
  const TaskId id = submit(*engine);
  std::vector<std::jthread> threads;
  std::atomic<int> found = 0;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) found += engine->catalog().find(id) ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(found, 64 * 20);
  int open_files = 0;
  for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry, gone).string();
    open_files += target == fs::canonical(path).string() ? 1 : 0;
  }
  EXPECT_LE(open_files, 17);
}

}  // namespace
}  // namespace errand::sqlite
