#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "errand/dsn.hpp"
#include "errand/postgres.hpp"
#include "errand/testing/engine_under_test.hpp"

namespace errand::testing {

/// A schema of its own on the tests' server, $ERRAND_TEST_POSTGRES.
class PostgresUnderTest final : public EngineUnderTest {
 public:
  /// `options`: more for the DSN, each beginning with `&`.
  explicit PostgresUnderTest(std::string options) : options_{std::move(options)} {
    static std::atomic<int> counter = 0;
    schema_ = "t" + std::to_string(getpid()) + "_" + std::to_string(++counter);
    execute("CREATE SCHEMA " + schema_);
  }
  ~PostgresUnderTest() override {
    if (getpid() == owner_) execute("DROP SCHEMA " + schema_ + " CASCADE");
  }
  PostgresUnderTest(const PostgresUnderTest&) = delete;
  PostgresUnderTest& operator=(const PostgresUnderTest&) = delete;

  std::unique_ptr<Engine> open(EngineOptions::Open how) override {
    EngineOptions options;
    options.open = how;
    return open_postgres(Dsn{*dsn()}, options);
  }

  /// The server's clock cannot be moved, but all that it is compared with can.
  void pass_time(std::chrono::milliseconds time) override {
    const std::string by = " - interval '" + std::to_string(time.count()) + " ms'";
    execute("UPDATE " + schema_ + ".async_tasks SET submitted_at = submitted_at" + by +
            ", started_at = started_at" + by + ", completed_at = completed_at" + by +
            ", available_at = available_at" + by + ", lease_expires_at = lease_expires_at" + by +
            "; UPDATE " + schema_ + ".errand_workers SET started_at = started_at" + by +
            ", seen_at = seen_at" + by);
  }

  Timestamp now() override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }

  std::chrono::milliseconds drift() const override { return std::chrono::minutes{5}; }

  std::optional<std::string> dsn() const override {
    return server() + "&options=-csearch_path%3D" + schema_ + options_;
  }

  /// Returns the first value, if there is one.
  static std::string execute(const std::string& sql) {
    PGconn* connection = PQconnectdb(server().c_str());
    PQsetNoticeProcessor(
        connection, [](void*, const char*) {}, nullptr);
    PGresult* result = PQexec(connection, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    std::string value;
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) value = PQgetvalue(result, 0, 0);
    const std::string error = PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error{error};
    return value;
  }

  [[nodiscard]] const std::string& schema() const noexcept { return schema_; }

  static std::string server() {
    const char* dsn = std::getenv("ERRAND_TEST_POSTGRES");
    if (dsn == nullptr) throw std::runtime_error{"ERRAND_TEST_POSTGRES names no server"};
    return dsn;
  }

 private:
  const pid_t owner_ = getpid();
  std::string options_;
  std::string schema_;
};

}  // namespace errand::testing
