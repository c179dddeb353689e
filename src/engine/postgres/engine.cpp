#include "engine/postgres/engine.hpp"

#include <string>

#include "errand/postgres.hpp"

#include "core/schema_versions.hpp"
#include "engine/postgres/doctor.hpp"
#include "engine/postgres/settings.hpp"

namespace errand {
namespace postgres {
PostgresEngine::PostgresEngine(const Dsn& dsn, const EngineOptions& options,
                               std::size_t bundle_from)
    : database_{database_settings(dsn), *options.logger}, queue_{database_, bundles_, bundle_from} {
  static_cast<void>(schema_.installed_version());  // says early that it cannot be reached
  detail::prepare_schema(schema_, options.open);
}

Timestamp PostgresEngine::now() { return database_.now(); }

std::vector<Finding> PostgresEngine::diagnose() {
  return postgres::diagnose(database_, schema_, catalog_, registry_);
}

}  // namespace postgres

std::unique_ptr<Engine> open_postgres(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<postgres::PostgresEngine>(dsn, options);
}

std::string postgres_schema_script() { return postgres::schema_script(); }

}  // namespace errand
