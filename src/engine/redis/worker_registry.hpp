#pragma once

#include "errand/worker_registry.hpp"

#include "engine/redis/database.hpp"

namespace errand::redis {

class Registry final : public WorkerRegistry {
 public:
  explicit Registry(Database& database) : database_{database} {}

  void beat(const WorkerInfo& worker, std::chrono::milliseconds forget_after) override;
  void retire(const std::string& worker) override;
  [[nodiscard]] std::vector<WorkerInfo> workers() override;

 private:
  Database& database_;
};

}  // namespace errand::redis
