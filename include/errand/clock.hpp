#pragma once

#include "errand/export.hpp"
#include "errand/timestamp.hpp"

namespace errand {

/// Where time comes from. Injected, so that tests decide what time it is. Thread-safe.
///
/// An engine that shares a database with other machines asks the database instead: leases and
/// due times must mean the same to every worker.
class ERRAND_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's wall clock. Lives until the program ends.
[[nodiscard]] ERRAND_EXPORT const Clock& system_clock();

}  // namespace errand
