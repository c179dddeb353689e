#include "errand/sqlite.hpp"

#include "core/schema_versions.hpp"
#include "engine/sqlite/catalog.hpp"
#include "engine/sqlite/database.hpp"
#include "engine/sqlite/doctor.hpp"
#include "engine/sqlite/file_checks.hpp"
#include "engine/sqlite/queue.hpp"
#include "engine/sqlite/schema.hpp"
#include "engine/sqlite/settings.hpp"
#include "engine/sqlite/storage.hpp"
#include "engine/sqlite/worker_registry.hpp"

namespace errand {
namespace sqlite {
namespace {

using std::chrono::milliseconds;

Database::Settings settings_of(const Dsn& dsn, const EngineOptions& options) {
  const bool existing =
      options.open == EngineOptions::Open::existing || options.open == EngineOptions::Open::inspect;
  Database::Settings settings = database_settings(dsn, *options.clock);
  if (existing) settings.connection.mode = Connection::Mode::existing;
  require_usable(dsn.path());
  if (existing) require_tables(dsn.path());
  return settings;
}

class SqliteEngine final : public Engine {
 public:
  SqliteEngine(const Dsn& dsn, const EngineOptions& options)
      : database_{settings_of(dsn, options)} {
    detail::prepare_schema(schema_, options.open);
  }

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::sqlite; }
  [[nodiscard]] Timestamp now() override { return database_.now(); }
  [[nodiscard]] milliseconds ttl() const noexcept override { return database_.ttl(); }
  [[nodiscard]] TaskStorage& storage() noexcept override { return storage_; }
  [[nodiscard]] TaskQueue& queue() noexcept override { return queue_; }
  [[nodiscard]] TaskCatalog& catalog() noexcept override { return catalog_; }
  [[nodiscard]] WorkerRegistry& workers() noexcept override { return registry_; }
  [[nodiscard]] Signals& signals() noexcept override { return database_; }
  [[nodiscard]] Schema& schema() noexcept override { return schema_; }
  [[nodiscard]] std::vector<Finding> diagnose() override {
    return sqlite::diagnose(database_, schema_, catalog_, registry_);
  }

 private:
  Database database_;
  SqliteSchema schema_{database_};
  Storage storage_{database_};
  Queue queue_{database_};
  Catalog catalog_{database_};
  Registry registry_{database_};
};

}  // namespace
}  // namespace sqlite

std::unique_ptr<Engine> open_sqlite(const Dsn& dsn, const EngineOptions& options) {
  return std::make_unique<sqlite::SqliteEngine>(dsn, options);
}

std::string sqlite_schema_script() { return sqlite::schema_script(); }

}  // namespace errand
