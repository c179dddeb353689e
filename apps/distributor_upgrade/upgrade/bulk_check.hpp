#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/upgrade/perform_upgrades.hpp"

namespace errand::distributors {

struct BulkOptions {
  std::size_t batch = 1000;  ///< how many at a time
  bool dry_run = false;      ///< only look: `upgraded` counts those who would be
};

struct BulkReport {
  std::int64_t total = 0;  ///< distributors there were at the start
  std::int64_t checked = 0;
  std::int64_t upgraded = 0;
  std::int64_t failed = 0;  ///< could not be checked, or not upgraded; the others were
  std::string first_failure{};
  bool stopped = false;  ///< before the end
};

/// Checks everybody, by id, in batches, in the calling thread. After each batch `progress`
/// is told how far it is, and what the batch changed. Teams are counted once, when criteria first
/// ask for one; whoever joins later is not counted.
///
/// One distributor whose criteria or whose row fail is counted as failed, and ends nothing. Passing
/// trouble of the storage is waited for, some seconds. It may be stopped and run again at any time.
/// Throws StorageException.
BulkReport check_everybody(
    Database& database, const BulkOptions& options, const std::stop_token& stop,
    const std::function<void(const BulkReport&, const std::vector<Upgrade>&)>& progress);

}  // namespace errand::distributors
