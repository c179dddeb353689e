#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "errand/progress.hpp"
#include "errand/task.hpp"
#include "errand/task_catalog.hpp"

#include "engine/sqlite/connection.hpp"

/// Between columns and values.
namespace errand::sqlite {

/// The columns read_task() expects, from `first` on.
inline constexpr const char* kTaskColumns =
    "task_id, status, payload, result, error, submitted_at, started_at, completed_at, version";
inline constexpr int kTaskColumnCount = 9;

/// Throws ValidationException for a row that no TaskData can hold.
[[nodiscard]] TaskData read_task(const Statement& row, int first = 0);

/// The columns read_record() expects.
inline constexpr const char* kRecordColumns =
    "task_id, status, payload, result, error, submitted_at, started_at, completed_at, version, "
    "type, queue_name, priority, available_at, attempts, crashes, max_retries, retry_policy, "
    "headers, worker, lease_expires_at, cancel_requested, progress, history";

/// Without `expired`, which depends on the time of asking.
[[nodiscard]] TaskRecord read_record(const Statement& row);

[[nodiscard]] Timestamp read_time(const Statement& row, int column);
[[nodiscard]] std::optional<Timestamp> read_optional_time(const Statement& row, int column);
[[nodiscard]] TaskId read_task_id(const Statement& row, int column);

[[nodiscard]] std::string progress_column(const Progress& progress);

}  // namespace errand::sqlite
