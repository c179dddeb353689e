#pragma once

#include "errand/task_storage.hpp"

#include "engine/redis/database.hpp"

namespace errand::redis {

/// A record that another program has locked is not changed: ConcurrentModificationException.
class Storage final : public TaskStorage {
 public:
  explicit Storage(Database& database) : database_{database} {}

  void save(const TaskData& task) override;
  [[nodiscard]] std::optional<TaskData> load(TaskId id) override;
  void update_status(TaskId id, TaskStatus status,
                     std::optional<std::int64_t> expected_version) override;
  void remove(TaskId id) override;
  std::size_t delete_expired_tasks(Timestamp before) override;

 private:
  /// Runs a script that changes one record.
  Reply change(const Script& script, const Command& arguments);
  void tell(TaskId id, TaskStatus status);

  Database& database_;
};

}  // namespace errand::redis
