#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unistd.h>

#include "errand/application.hpp"

#include "contract/postgres_under_test.hpp"
#include "invoice_intake/store/database.hpp"
#include "invoice_intake/store/profiles.hpp"
#include "invoice_intake/store/setup.hpp"
#include "support/temp_dir.hpp"

namespace errand::invoices {

/// A database of the test's own, set up, reached as programs reach it.
class DatabaseUnderTest {
 public:
  virtual ~DatabaseUnderTest() = default;
  [[nodiscard]] virtual std::string dsn() const = 0;
  /// As the owner, past the program's role and layers. Returns the first value, if there is one.
  virtual std::string execute(const std::string& sql) const = 0;
};

class SqliteUnderTest final : public DatabaseUnderTest {
 public:
  SqliteUnderTest() { set_up(Dsn{dsn()}); }
  [[nodiscard]] std::string dsn() const override {
    return "sqlite://" + (directory_ / "invoices.db").string();
  }
  std::string execute(const std::string& sql) const override;

 private:
  testing::TempDir directory_;
};

class PostgresUnderTest final : public DatabaseUnderTest {
 public:
  PostgresUnderTest() {
    testing::run_sql(server("postgres", "errand"), "CREATE DATABASE " + name_);
    set_up(Dsn{server(name_, "errand")});
  }
  ~PostgresUnderTest() override {
    testing::run_sql(server("postgres", "errand"), "DROP DATABASE " + name_ + " WITH (FORCE)");
  }
  PostgresUnderTest(const PostgresUnderTest&) = delete;
  PostgresUnderTest& operator=(const PostgresUnderTest&) = delete;

  [[nodiscard]] std::string dsn() const override { return server(name_, kProgramRole); }
  [[nodiscard]] std::string owner_dsn() const { return server(name_, "errand"); }
  std::string execute(const std::string& sql) const override {
    return testing::run_sql(owner_dsn(), sql);
  }

 private:
  static std::string server(const std::string& database, const std::string& role) {
    return "postgresql:///" + database + "?user=" + role +
           "&host=" + testing::test_server("postgres");
  }
  static std::string unique_name() {
    static std::atomic<int> counter = 0;
    return "invoices_" + std::to_string(getpid()) + "_" + std::to_string(++counter);
  }

  const std::string name_ = unique_name();
};

/// One suite for both databases: the parameter makes a new one.
struct DatabaseMaker {
  const char* name;
  std::unique_ptr<DatabaseUnderTest> (*make)();
};

inline const DatabaseMaker kDatabaseMakers[] = {
    {"Sqlite",
     []() -> std::unique_ptr<DatabaseUnderTest> { return std::make_unique<SqliteUnderTest>(); }},
    {"Postgres",
     []() -> std::unique_ptr<DatabaseUnderTest> { return std::make_unique<PostgresUnderTest>(); }},
};

inline std::string maker_name(const ::testing::TestParamInfo<DatabaseMaker>& info) {
  return info.param.name;
}

/// An open database with two users.
class DatabaseTest : public ::testing::TestWithParam<DatabaseMaker> {
 protected:
  std::unique_ptr<DatabaseUnderTest> under_test = GetParam().make();
  std::unique_ptr<Database> database = open_database(Dsn{under_test->dsn()});
  Profile ann = add_profile(*database, "ann@example.com", "Ann");
  Profile bob = add_profile(*database, "bob@example.com", "Bob");
};

}  // namespace errand::invoices
