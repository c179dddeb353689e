#pragma once

#include "errand/engine.hpp"

#include "engine/redis/catalog.hpp"
#include "engine/redis/database.hpp"
#include "engine/redis/queue.hpp"
#include "engine/redis/schema.hpp"
#include "engine/redis/storage.hpp"
#include "engine/redis/worker_registry.hpp"

namespace errand::redis {

class RedisEngine final : public Engine {
 public:
  RedisEngine(DatabaseSettings settings, const EngineOptions& options);

  [[nodiscard]] EngineKind kind() const noexcept override { return EngineKind::redis; }
  [[nodiscard]] Timestamp now() override;
  [[nodiscard]] std::chrono::milliseconds ttl() const noexcept override { return database_.ttl(); }
  [[nodiscard]] TaskStorage& storage() noexcept override { return storage_; }
  [[nodiscard]] TaskQueue& queue() noexcept override { return queue_; }
  [[nodiscard]] TaskCatalog& catalog() noexcept override { return catalog_; }
  [[nodiscard]] WorkerRegistry& workers() noexcept override { return registry_; }
  [[nodiscard]] Signals& signals() noexcept override { return database_.notifications(); }
  [[nodiscard]] Schema& schema() noexcept override { return schema_; }
  [[nodiscard]] std::vector<Finding> diagnose() override;

 private:
  Database database_;
  RedisSchema schema_{database_};
  Storage storage_{database_};
  Queue queue_{database_};
  Catalog catalog_{database_};
  Registry registry_{database_};
};

}  // namespace errand::redis
