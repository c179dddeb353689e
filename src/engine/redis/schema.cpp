#include "engine/redis/schema.hpp"

#include "core/schema_versions.hpp"

namespace errand::redis {
namespace {

/// A change of the keys of a storage that is in use raises it, and says here how to get there.
constexpr int kVersion = 1;

}  // namespace

std::string schema_script(const std::string& version_key) {
  return "SET " + version_key + " " + std::to_string(kVersion) + " NX\n";
}

int RedisSchema::installed_version() {
  return database_
      .read([&](Connection& connection) {
        return connection.run(Command{"GET"}.add(database_.own_key("schema")));
      })
      .value()
      .small_integer();
}

int RedisSchema::supported_version() const { return kVersion; }

void RedisSchema::migrate() {
  detail::refuse_newer_schema(installed_version(), kVersion);
  database_.write([&](Connection& connection) {
    return connection.run(
        Command{"SET"}.add(database_.own_key("schema")).add(std::int64_t{kVersion}).add("NX"));
  });
}

}  // namespace errand::redis
