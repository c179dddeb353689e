#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "errand/export.hpp"
#include "errand/task.hpp"

namespace errand {

/// The records of tasks, one by one: what a program needs that keeps tasks but does not queue them.
///
/// All methods are thread-safe and may block on the storage. Any of them throws StorageException
/// when the storage cannot be reached or refuses; nothing is changed then, unless it says
/// in_doubt.
class ERRAND_EXPORT TaskStorage {
 public:
  virtual ~TaskStorage() = default;

  /// Inserts the record, or replaces what is stored under its id; durable on return. The version
  /// stored rises by one. A record that was never queued stays out of every queue.
  ///
  /// Throws ValidationException if validate() would; ConcurrentModificationException if
  /// `task.version` has a value and the stored version is another one, or there is no record.
  virtual void save(const TaskData& task) = 0;

  /// nullopt: there is no such task, or it has expired (completed longer ago than the TTL).
  /// Throws ValidationException if what is stored breaks a rule of validate().
  [[nodiscard]] virtual std::optional<TaskData> load(TaskId id) = 0;

  /// Moves the status along the transition table and nothing else, but for the times: running sets
  /// started_at, a final status sets completed_at, pending clears both.
  ///
  /// Throws TaskNotFoundException; ConcurrentModificationException if the table has no way from
  /// the stored status to `status`, or `expected_version` is given and is not the stored one:
  /// somebody else moved the task; ValidationException if the record would break a rule, as
  /// completed without a result does.
  virtual void update_status(TaskId id, TaskStatus status,
                             std::optional<std::int64_t> expected_version = std::nullopt) = 0;

  /// Deletes the record, whatever its status. No error if there is none.
  virtual void remove(TaskId id) = 0;

  /// Deletes final tasks completed before `before`, in batches of kExpiryBatch, each its own
  /// transaction. Returns how many; those of earlier batches stay deleted if a later one throws.
  virtual std::size_t delete_expired_tasks(Timestamp before) = 0;

  static constexpr std::size_t kExpiryBatch = 1000;
};

}  // namespace errand
