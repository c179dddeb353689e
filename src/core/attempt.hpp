#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "errand/exception_data.hpp"
#include "errand/retry.hpp"
#include "errand/task_queue.hpp"

namespace errand::detail {

/// What a handler asked for by what it threw.
enum class FailureKind : std::uint8_t { ordinary, unrecoverable, recoverable, retry_later };

struct Failure {
  FailureKind kind = FailureKind::ordinary;
  ExceptionData error;
  std::chrono::milliseconds after{0};  ///< for retry_later
};

/// What becomes of attempt number `attempt` (from 1) that failed. `random` in [0, 1) is for jitter.
[[nodiscard]] Outcome after_failure(const RetryPolicy& policy, int attempt, Failure failure,
                                    double random);

}  // namespace errand::detail
