#include "engine/redis/engine.hpp"

#include "errand/redis.hpp"

#include "engine/redis/doctor.hpp"
#include "engine/redis/records.hpp"

namespace errand {
namespace redis {

RedisEngine::RedisEngine(const Dsn& dsn, const EngineOptions& options)
    : database_{settings_of(dsn), *options.logger} {
  switch (options.open) {
    case EngineOptions::Open::create:
      if (schema_.installed_version() == 0) schema_.migrate();
      schema_.require_supported();
      break;
    case EngineOptions::Open::existing:
      schema_.require_supported();
      break;
    case EngineOptions::Open::any_schema:
    case EngineOptions::Open::inspect:
      static_cast<void>(schema_.installed_version());  // says early that it cannot be reached
      break;
  }
}

Timestamp RedisEngine::now() {
  const Reply time =
      database_.read([](Connection& connection) { return connection.run(Command{"TIME"}); });
  constexpr std::int64_t kMicroseconds = 1'000'000;
  return time_of(time.value()[0].integer() * kMicroseconds + time.value()[1].integer());
}

std::vector<Finding> RedisEngine::diagnose() {
  return redis::diagnose(database_, schema_, catalog_, registry_);
}

}  // namespace redis

std::unique_ptr<Engine> open_redis(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<redis::RedisEngine>(dsn, options);
}

std::string redis_schema_script() { return redis::schema_script(); }

}  // namespace errand
