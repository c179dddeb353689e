#include "errand/engine.hpp"
#include "errand/errors.hpp"
#include "errand/postgres.hpp"
#include "errand/redis.hpp"
#include "errand/sqlite.hpp"
#include "errand/transport.hpp"

namespace errand {
namespace {

ConfigurationException not_built(EngineKind kind) {
  return ConfigurationException{"this build of Errand has no " + std::string{to_string(kind)} +
                                " engine; it has sqlite (sqlite:path.db), postgresql "
                                "(postgresql://user@host/database) and redis (redis://host)"};
}

}  // namespace

std::unique_ptr<Engine> open_engine(const Dsn& dsn, const EngineOptions& options) {
  if (dsn.kind() == EngineKind::sqlite) return open_sqlite(dsn, options);
  if (dsn.kind() == EngineKind::postgres) return open_postgres(dsn, options);
  if (dsn.kind() == EngineKind::redis) return open_redis(dsn, options);
  throw not_built(dsn.kind());
}

std::unique_ptr<Transport> open_transport(const Dsn& dsn, const TransportOptions& options) {
  if (dsn.kind() == EngineKind::sqlite) return open_sqlite_transport(dsn, options);
  if (dsn.kind() == EngineKind::postgres) return open_postgres_transport(dsn, options);
  if (dsn.kind() == EngineKind::redis) return open_redis_transport(dsn, options);
  throw ConfigurationException{
      "this build of Errand has no transports on " + std::string{to_string(dsn.kind())} +
      "; it has them on sqlite (sqlite:app.db?queue_name=async), postgresql "
      "(postgresql://user@host/database?queue_name=async) and redis (redis://host/async)"};
}

std::string schema_script(const Dsn& dsn) {
  if (dsn.kind() == EngineKind::sqlite) return sqlite_schema_script();
  if (dsn.kind() == EngineKind::postgres) return postgres_schema_script();
  if (dsn.kind() == EngineKind::redis) return redis_schema_script(dsn);
  throw not_built(dsn.kind());
}

}  // namespace errand
