#pragma once

#include <cstdint>
#include <string>

#include "errand/task.hpp"
#include "errand/task_catalog.hpp"

#include "engine/postgres/connection.hpp"

/// Between columns and values.
namespace errand::postgres {

/// The columns read_task() expects.
inline constexpr const char* kTaskColumns =
    "task_id, status, payload, result, error, submitted_at, started_at, completed_at, version";

/// Throws ValidationException for a row that no TaskData can hold.
[[nodiscard]] TaskData read_task(const Result& result, int row);

/// The columns read_record() expects: kTaskColumns, with NULL for the documents unless wanted, and
/// the queue's; last, whether it has expired by now. $1 is the TTL in milliseconds.
enum class Documents : std::uint8_t { none, error, all };
[[nodiscard]] std::string record_columns(Documents documents);

[[nodiscard]] TaskRecord read_record(const Result& result, int row);

/// True: completed longer ago than $1 milliseconds.
inline constexpr const char* kExpired =
    "coalesce(completed_at + $1::int8 * interval '1 ms' < now(), false)";

}  // namespace errand::postgres
