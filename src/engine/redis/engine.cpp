#include "engine/redis/engine.hpp"

#include <utility>

#include "errand/redis.hpp"

#include "core/schema_versions.hpp"
#include "engine/redis/doctor.hpp"
#include "engine/redis/records.hpp"

namespace errand {
namespace redis {

RedisEngine::RedisEngine(DatabaseSettings settings, const EngineOptions& options)
    : database_{std::move(settings), *options.logger} {
  static_cast<void>(schema_.installed_version());  // says early that it cannot be reached
  detail::prepare_schema(schema_, options.open);
  schema_.require_record_kind();
}

Timestamp RedisEngine::now() { return database_.now(); }

std::vector<Finding> RedisEngine::diagnose() {
  return redis::diagnose(database_, schema_, catalog_, registry_);
}

}  // namespace redis

std::unique_ptr<Engine> open_redis(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<redis::RedisEngine>(redis::settings_of(dsn), options);
}

std::string redis_schema_script(const Dsn& dsn) {
  const redis::DatabaseSettings settings = redis::settings_of(dsn);
  return redis::schema_script(settings.prefix, settings.record);
}

}  // namespace errand
