#pragma once

#include "errand/engine.hpp"

#include "engine/postgres/bundles.hpp"
#include "engine/postgres/catalog.hpp"
#include "engine/postgres/database.hpp"
#include "engine/postgres/queue.hpp"
#include "engine/postgres/schema.hpp"
#include "engine/postgres/storage.hpp"
#include "engine/postgres/worker_registry.hpp"

namespace errand::postgres {

class PostgresEngine final : public Engine {
 public:
  /// `bundle_from`: see Claimer; tests choose others.
  PostgresEngine(const Dsn& dsn, const EngineOptions& options,
                 std::size_t bundle_from = Claimer::kBundleFrom);

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::postgres; }
  [[nodiscard]] Timestamp now() override;
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept override { return database_.ttl(); }
  [[nodiscard]] TaskStorage& storage() noexcept override { return storage_; }
  [[nodiscard]] TaskQueue& queue() noexcept override { return queue_; }
  [[nodiscard]] TaskCatalog& catalog() noexcept override { return catalog_; }
  [[nodiscard]] WorkerRegistry& workers() noexcept override { return registry_; }
  [[nodiscard]] Signals& signals() noexcept override { return database_.signals(); }
  [[nodiscard]] Schema& schema() noexcept override { return schema_; }
  [[nodiscard]] std::vector<Finding> diagnose() override;

  [[nodiscard]] Database& database() noexcept { return database_; }
  [[nodiscard]] Bundles& bundles() noexcept { return bundles_; }

 private:
  Database database_;
  PostgresSchema schema_{database_};
  Storage storage_{database_};
  Bundles bundles_;
  Queue queue_;
  Catalog catalog_{database_};
  Registry registry_{database_};
};

}  // namespace errand::postgres
