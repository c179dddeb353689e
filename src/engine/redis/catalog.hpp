#pragma once

#include "errand/task_catalog.hpp"

#include "engine/redis/database.hpp"

namespace errand::redis {

class Catalog final : public TaskCatalog {
 public:
  explicit Catalog(Database& database) : database_{database} {}

  [[nodiscard]] std::optional<TaskRecord> find(TaskId id) override;
  [[nodiscard]] std::vector<TaskRecord> find_all(std::span<const TaskId> ids) override;
  [[nodiscard]] TaskPage list(const TaskFilter& filter, const PageRequest& request) override;
  [[nodiscard]] TaskStats stats() override;
  [[nodiscard]] EndedTasks ended(Timestamp since, std::size_t latest) override;

 private:
  /// Tasks that Redis has let expire are still in the indexes.
  void forget_expired();

  Database& database_;
};

}  // namespace errand::redis
