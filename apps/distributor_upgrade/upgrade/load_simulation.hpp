#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "errand/logger.hpp"
#include "errand/transport.hpp"

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

struct LoadOptions {
  std::int64_t rate = 100;  ///< withdrawals completed in a second
  std::chrono::milliseconds duration{60'000};
  std::chrono::milliseconds handling{30};  ///< added to each check, as if it took so long
  int concurrency = 8;                     ///< of the worker in this process
  std::string message_class{};
};

struct LoadReport {
  std::int64_t sent = 0;
  std::int64_t handled = 0;
  std::int64_t failed = 0;  ///< at the first attempt, which is the only one waited for
  std::string first_failure{};
  std::int64_t upgraded = 0;
  double seconds = 0;        ///< of sending
  double drain_seconds = 0;  ///< from the last message sent to the last one handled
  std::int64_t most_waiting = 0;
  double mean_waiting = 0;
  std::chrono::milliseconds median_delay{0};  ///< from a withdrawal's commit to its check's end
  std::chrono::milliseconds delay_of_95_percent{0};
  std::chrono::milliseconds longest_delay{0};
};

/// Completes withdrawals of the distributors there are at a steady rate, each in one transaction
/// with its check, while a worker in this process handles them; looks every second at how many
/// wait. Everything is real but the extra time of the handler. Those that are late together,
/// because the storage is slower than the rate, share a transaction; what is not sent five seconds
/// after its time is given up. `each_second` is told what is known so far. Throws NotPossible if
/// there are no distributors, StorageException.
LoadReport simulate_load(
    Database& database, Transport& checks, Transport& failures, const LoadOptions& options,
    const std::stop_token& stop, Logger& logger,
    const std::function<void(const LoadReport&, std::int64_t waiting)>& each_second);

}  // namespace errand::distributors
