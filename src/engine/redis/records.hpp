#pragma once

#include <chrono>
#include <optional>

#include "errand/task.hpp"
#include "errand/task_catalog.hpp"

#include "engine/redis/reply.hpp"

/// Between what the scripts give and values.
namespace errand::redis {

[[nodiscard]] inline Timestamp time_of(std::int64_t microseconds) {
  return Timestamp{std::chrono::microseconds{microseconds}};
}

/// A time of the record: whole seconds, for everybody; and of meta: exact, unless another program
/// has changed the record's. nullopt: there is none. Throws ValidationException if it is no time.
[[nodiscard]] std::optional<Timestamp> read_time(const Value& whole,
                                                 const std::optional<Timestamp>& exact);

/// Throws ValidationException for what no TaskRecord can hold.
[[nodiscard]] TaskRecord read_record(const Value& record, Timestamp now,
                                     std::chrono::milliseconds ttl);

}  // namespace errand::redis
