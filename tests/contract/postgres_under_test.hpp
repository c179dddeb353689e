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

#include "engine/postgres/engine.hpp"

namespace errand::testing {

/// Where a server of the tests' has its socket.
inline std::string test_server(const std::string& name) {
  const char* servers = std::getenv("ERRAND_TEST_SERVERS");
  if (servers == nullptr) throw std::runtime_error{"ERRAND_TEST_SERVERS names no servers"};
  return servers + ("-" + name);
}

/// Runs it on a connection of its own. Returns the first value, if there is one.
inline std::string run_sql(const std::string& server, const std::string& sql) {
  PGconn* connection = PQconnectdb(server.c_str());
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

/// A part of the tests' server of its own.
class PostgresUnderTest final : public EngineUnderTest {
 public:
  /// `options`: more for the DSN, each beginning with `&`.
  static std::unique_ptr<PostgresUnderTest> in_schema(const std::string& options = "") {
    const std::string name = unique_name();
    run_sql(server(), "CREATE SCHEMA " + name);
    const std::string direct = server() + "&options=-csearch_path%3D" + name;
    return std::make_unique<PostgresUnderTest>(direct, direct + options,
                                               "DROP SCHEMA " + name + " CASCADE");
  }

  /// All claims are made as bundles, as far as their tasks can be in one.
  static std::unique_ptr<PostgresUnderTest> in_bundles() {
    std::unique_ptr<PostgresUnderTest> under_test = in_schema();
    under_test->bundle_from_ = 1;
    return under_test;
  }

  /// Through a pooler in transaction mode. It takes no search_path: a role brings it.
  static std::unique_ptr<PostgresUnderTest> behind_pgbouncer() {
    const std::string name = unique_name();
    run_sql(server(), "CREATE SCHEMA " + name + "; CREATE ROLE " + name +
                          " SUPERUSER LOGIN; ALTER ROLE " + name + " SET search_path = " + name);
    return std::make_unique<PostgresUnderTest>(
        server() + "&options=-csearch_path%3D" + name,
        "postgresql:///postgres?user=" + name + "&host=" + test_server("pgbouncer") +
            "&port=6432&prepare=no&listen=no",
        "DROP SCHEMA " + name + " CASCADE; DROP ROLE " + name);
  }

  /// The server counts statements by database.
  static std::unique_ptr<PostgresUnderTest> in_database() {
    const std::string name = unique_name();
    run_sql(server(), "CREATE DATABASE " + name);
    std::string direct = server();
    direct.replace(direct.find("///postgres?"), 12, "///" + name + "?");
    return std::make_unique<PostgresUnderTest>(direct, direct,
                                               "DROP DATABASE " + name + " WITH (FORCE)");
  }

  PostgresUnderTest(std::string direct, std::string dsn, std::string cleanup)
      : direct_{std::move(direct)}, dsn_{std::move(dsn)}, cleanup_{std::move(cleanup)} {}
  ~PostgresUnderTest() override {
    if (getpid() == owner_) run_sql(server(), cleanup_);
  }
  PostgresUnderTest(const PostgresUnderTest&) = delete;
  PostgresUnderTest& operator=(const PostgresUnderTest&) = delete;

  std::unique_ptr<Engine> open(EngineOptions::Open how) override {
    EngineOptions options;
    options.open = how;
    return std::make_unique<postgres::PostgresEngine>(Dsn{dsn_}, options, bundle_from_);
  }

  /// The server's clock cannot be moved, but all that it is compared with can.
  void pass_time(std::chrono::milliseconds time) override {
    const std::string by = " - interval '" + std::to_string(time.count()) + " ms'";
    execute("UPDATE async_tasks SET submitted_at = submitted_at" + by +
            ", started_at = started_at" + by + ", completed_at = completed_at" + by +
            ", available_at = available_at" + by + ", lease_expires_at = lease_expires_at" + by +
            "; UPDATE errand_bundles SET claimed_at = claimed_at" + by +
            ", lease_expires_at = lease_expires_at" + by + ", scan_due_at = scan_due_at" + by +
            ", available_at = available_at" + by +
            "; UPDATE errand_workers SET started_at = started_at" + by + ", seen_at = seen_at" +
            by);
  }

  Timestamp now() override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }

  std::chrono::milliseconds drift() const override { return std::chrono::minutes{5}; }

  std::optional<std::string> dsn() const override { return dsn_; }

  /// For libpq, and past any pooler.
  [[nodiscard]] const std::string& direct() const noexcept { return direct_; }

  std::string execute(const std::string& sql) const { return run_sql(direct_, sql); }

 private:
  static std::string server() {
    return "postgresql:///postgres?user=errand&host=" + test_server("postgres");
  }

  static std::string unique_name() {
    static std::atomic<int> counter = 0;
    return "t" + std::to_string(getpid()) + "_" + std::to_string(++counter);
  }

  const pid_t owner_ = getpid();
  const std::string direct_;
  const std::string dsn_;
  const std::string cleanup_;
  std::size_t bundle_from_ = postgres::Claimer::kBundleFrom;
};

}  // namespace errand::testing
