#include "engine/postgres/engine.hpp"

#include <string>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "core/dsn_options.hpp"
#include "core/schema_versions.hpp"
#include "engine/postgres/doctor.hpp"
#include "engine/postgres/libpq_uri.hpp"

namespace errand {
namespace postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

DatabaseSettings settings_of(const Dsn& dsn) {
  return DatabaseSettings{
      .connection = {.uri = libpq_uri(dsn),
                     .prepare = detail::switch_option(dsn, "prepare", true),
                     .reply_timeout =
                         seconds{detail::number_option(dsn, "reply_timeout", 60, 1, 86'400)}},
      .most_connections =
          static_cast<std::size_t>(detail::number_option(dsn, "connections", 10, 1, 1000)),
      .ttl = detail::seconds_option(dsn, "ttl", kDefaultTtl),
      .listen = detail::switch_option(dsn, "listen", true)};
}

}  // namespace

PostgresEngine::PostgresEngine(const Dsn& dsn, const EngineOptions& options)
    : database_{settings_of(dsn), *options.logger} {
  static_cast<void>(schema_.installed_version());  // says early that it cannot be reached
  detail::prepare_schema(schema_, options.open);
}

Timestamp PostgresEngine::now() {
  return database_.read([](Connection& connection) {
    return connection.run(Query{"SELECT clock_timestamp()"}).time(0, 0);
  });
}

std::vector<Finding> PostgresEngine::diagnose() {
  return postgres::diagnose(database_, schema_, catalog_, registry_);
}

}  // namespace postgres

std::unique_ptr<Engine> open_postgres(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<postgres::PostgresEngine>(dsn, options);
}

std::string postgres_schema_script() { return postgres::schema_script(); }

}  // namespace errand
