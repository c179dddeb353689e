#include "engine/postgres/schema.hpp"

#include <array>
#include <string_view>

#include "errand/errors.hpp"

#include "core/schema_versions.hpp"
#include "errand_postgres_embedded.hpp"

namespace errand::postgres {
namespace {

/// Step i brings version i to i + 1. A released step never changes; a new one is added.
constexpr std::array kMigrations{migrations::k_001_async_tasks, migrations::k_002_functions};

constexpr const char* kVersionTable =
    "CREATE TABLE IF NOT EXISTS errand_schema (\n"
    "  version    integer     NOT NULL PRIMARY KEY,\n"
    "  applied_at timestamptz NOT NULL DEFAULT now()\n"
    ");\n";

/// One at a time migrates; the number is this project's own.
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(7205759403792794)";

/// Not to_regclass(), whose cache need not notice what others created while this one waited.
constexpr const char* kTableExists = R"(
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables
               WHERE tablename = 'errand_schema' AND schemaname = current_schema()))";
constexpr const char* kVersion = "SELECT coalesce(max(version), 0) FROM errand_schema";

int version_of(Connection& connection) {
  if (!connection.run(Query{kTableExists}).boolean(0, 0)) return 0;
  return connection.run(Query{kVersion}).small_integer(0, 0);
}

std::string step(std::size_t number) {
  return std::string{kMigrations[number]} + "\nINSERT INTO errand_schema (version) VALUES (" +
         std::to_string(number + 1) + ");\n";
}

}  // namespace

std::string schema_script() {
  std::string script = kVersionTable;
  for (std::size_t i = 0; i < kMigrations.size(); ++i) {
    script += "\n-- version " + std::to_string(i + 1) + "\n" + step(i);
  }
  return script;
}

int PostgresSchema::installed_version() {
  return database_.read([](Connection& connection) { return version_of(connection); });
}

int PostgresSchema::supported_version() const { return static_cast<int>(kMigrations.size()); }

void PostgresSchema::migrate() {
  const int supported = supported_version();
  for (bool more = true; more;) {
    more = database_.write_in_steps([&](Connection& connection, Changes&) {
      connection.execute("SET LOCAL lock_timeout = 0");  // others may be at it, and take their time
      connection.execute(kLock);
      const int installed = version_of(connection);
      detail::refuse_newer_schema(installed, supported);
      if (installed == supported) return false;
      auto next = static_cast<std::size_t>(installed);
      std::string script = kVersionTable + step(next++);
      // From nothing to the newest at once: who opens the storage meanwhile sees no old one.
      while (installed == 0 && next < kMigrations.size()) script += step(next++);
      connection.execute_script(script);
      return true;
    });
  }
}

}  // namespace errand::postgres
