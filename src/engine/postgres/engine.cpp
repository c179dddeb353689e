#include <string>

#include "errand/errors.hpp"
#include "errand/postgres.hpp"

#include "core/dsn_options.hpp"
#include "engine/postgres/catalog.hpp"
#include "engine/postgres/database.hpp"
#include "engine/postgres/doctor.hpp"
#include "engine/postgres/libpq_uri.hpp"
#include "engine/postgres/queue.hpp"
#include "engine/postgres/schema.hpp"
#include "engine/postgres/storage.hpp"
#include "engine/postgres/worker_registry.hpp"

namespace errand {
namespace postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

DatabaseSettings settings_of(const Dsn& dsn) {
  return DatabaseSettings{
      .connection = {.uri = libpq_uri(dsn),
                     .prepare = detail::switch_option(dsn, "prepare", true),
                     .reply_timeout = detail::seconds_option(dsn, "reply_timeout", seconds{60})},
      .most_connections =
          static_cast<std::size_t>(detail::number_option(dsn, "connections", 10, 1, 1000)),
      .ttl = detail::seconds_option(dsn, "ttl", kDefaultTtl),
      .listen = detail::switch_option(dsn, "listen", true)};
}

class PostgresEngine final : public Engine {
 public:
  PostgresEngine(const Dsn& dsn, const EngineOptions& options)
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

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::postgres; }
  [[nodiscard]] Timestamp now() override {
    return database_.read([](Connection& connection) {
      return connection.run(Query{"SELECT clock_timestamp()"}).time(0, 0);
    });
  }
  [[nodiscard]] milliseconds ttl() const noexcept override { return database_.ttl(); }
  [[nodiscard]] TaskStorage& storage() noexcept override { return storage_; }
  [[nodiscard]] TaskQueue& queue() noexcept override { return queue_; }
  [[nodiscard]] TaskCatalog& catalog() noexcept override { return catalog_; }
  [[nodiscard]] WorkerRegistry& workers() noexcept override { return registry_; }
  [[nodiscard]] Signals& signals() noexcept override { return database_.signals(); }
  [[nodiscard]] Schema& schema() noexcept override { return schema_; }
  [[nodiscard]] std::vector<Finding> diagnose() override {
    return postgres::diagnose(database_, schema_, catalog_, registry_);
  }

 private:
  Database database_;
  PostgresSchema schema_{database_};
  Storage storage_{database_};
  Queue queue_{database_};
  Catalog catalog_{database_};
  Registry registry_{database_};
};

}  // namespace
}  // namespace postgres

std::unique_ptr<Engine> open_postgres(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<postgres::PostgresEngine>(dsn, options);
}

std::string postgres_schema_script() { return postgres::schema_script(); }

}  // namespace errand
