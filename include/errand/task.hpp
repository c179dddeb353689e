#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "errand/export.hpp"
#include "errand/task_id.hpp"
#include "errand/task_status.hpp"
#include "errand/timestamp.hpp"

namespace errand {

/// The record of a task, as TaskStorage keeps it.
///
/// `payload`, `result` and `error` are JSON documents, kept as text and never looked into here.
/// A plain value: build one by the named constructors, move it on by the verbs below.
struct ERRAND_EXPORT TaskData {
  TaskId id;
  TaskStatus status = TaskStatus::pending;
  std::optional<std::string> payload{};
  std::optional<std::string> result{};
  std::optional<std::string> error{};
  Timestamp submitted_at{};
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> completed_at{};

  /// The version that was loaded; nullopt in data that was never stored. TaskStorage::save()
  /// refuses to overwrite any other version than this one.
  std::optional<std::int64_t> version{};

  [[nodiscard]] static TaskData pending(TaskId id, std::optional<std::string> payload,
                                        Timestamp submitted_at);

  /// The verbs follow the transition table: ValidationException, and no change, where it has no
  /// such row.
  void start(Timestamp now);
  void complete(std::string result_json, Timestamp now);
  void fail(std::string error_json, Timestamp now);
  void retry();
  void cancel(Timestamp now);

  friend bool operator==(const TaskData&, const TaskData&) = default;
};

/// Documents above this size are refused by every engine.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} * 1024 * 1024;

/// Throws ValidationException, naming the rule and the value, unless all of this holds:
///
/// - completed: a result and no error; failed: an error and no result; cancelled: neither;
///   pending and retrying: neither. A running record may hold a result or an error already, for
///   writers that store the outcome first and move the status after.
/// - started_at is there for running, retrying, completed and failed, and not for pending;
///   completed_at for the final statuses, and not for the others.
/// - completed_at >= started_at >= submitted_at, as far as they are there.
/// - payload, result and error are UTF-8 without NUL and of at most kMaxDocumentBytes.
ERRAND_EXPORT void validate(const TaskData& task);

/// The JSON form: taskId, status, payload, result, error, submittedAt, startedAt, completedAt;
/// members without a value are left out. The documents inside are strings, as they are stored.
[[nodiscard]] ERRAND_EXPORT std::string to_json(const TaskData& task);

/// Reads to_json()'s form and validates it. ValidationException names the member that is wrong.
[[nodiscard]] ERRAND_EXPORT TaskData parse_task_data(std::string_view json);

}  // namespace errand
