#include "bench/bare_loop.hpp"

#include "errand/errors.hpp"

#include "bench/postgres_bare_loop.hpp"
#include "bench/redis_bare_loop.hpp"
#include "bench/sqlite_bare_loop.hpp"

namespace errand::bench {

std::unique_ptr<BareLoop> make_bare_loop(const Dsn& dsn, const std::string& queue) {
  switch (dsn.kind()) {
    case EngineKind::sqlite:
      return make_sqlite_bare_loop(dsn, queue);
    case EngineKind::postgres:
      return make_postgres_bare_loop(dsn, queue);
    case EngineKind::redis:
      return make_redis_bare_loop(dsn, queue);
    default:
      throw ConfigurationException{"no bare loop was written for " +
                                   std::string{to_string(dsn.kind())}};
  }
}

}  // namespace errand::bench
