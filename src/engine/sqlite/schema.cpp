#include "engine/sqlite/schema.hpp"

#include <array>
#include <string_view>

#include "core/schema_versions.hpp"
#include "errand_sqlite_embedded.hpp"

namespace errand::sqlite {
namespace {

/// Step i brings version i to i + 1. A released step never changes; a new one is added.
constexpr std::array kMigrations{migrations::k_001_async_tasks};

constexpr const char* kVersionTable =
    "CREATE TABLE IF NOT EXISTS errand_schema (\n"
    "  version    INTEGER  NOT NULL PRIMARY KEY,\n"
    "  applied_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP\n"
    ");\n";

int version_of(Connection& connection) {
  Statement& table = connection.prepare(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'errand_schema'");
  const bool exists = table.step();
  table.reset();
  if (!exists) return 0;
  Statement& row = connection.prepare("SELECT coalesce(max(version), 0) FROM errand_schema");
  row.step();
  const int version = row.small_integer(0);
  row.reset();
  return version;
}

}  // namespace

std::string schema_script() {
  std::string script = kVersionTable;
  for (std::size_t i = 0; i < kMigrations.size(); ++i) {
    script += "\n-- version " + std::to_string(i + 1) + "\n";
    script += kMigrations[i];
    script += "INSERT INTO errand_schema (version) VALUES (" + std::to_string(i + 1) + ");\n";
  }
  return script;
}

int SqliteSchema::installed_version() {
  return database_.read([](Connection& connection) { return version_of(connection); });
}

int SqliteSchema::supported_version() const { return static_cast<int>(kMigrations.size()); }

void SqliteSchema::migrate() {
  // All steps in one transaction: whoever opens the storage meanwhile sees none of them, not some.
  database_.write([&](Connection& connection, Changes&) {
    const int installed = version_of(connection);
    detail::refuse_newer_schema(installed, supported_version());
    for (auto i = static_cast<std::size_t>(installed); i < kMigrations.size(); ++i) {
      connection.execute(kVersionTable);
      connection.execute(std::string{kMigrations[i]});
      connection.execute("INSERT INTO errand_schema (version) VALUES (" + std::to_string(i + 1) +
                         ")");
    }
    return installed;
  });
}

}  // namespace errand::sqlite
