#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "distributor_upgrade/upgrade/upgrade_service.hpp"

namespace errand::distributors {

struct BulkReport {
  std::int64_t total = 0;  ///< distributors there were at the start
  std::int64_t checked = 0;
  std::int64_t upgraded = 0;
  std::int64_t failed = 0;
  std::string first_failure{};
  bool stopped = false;  ///< before the end
};

/// Checks everybody, by id, `batch` at a time, in the calling thread. After each batch `progress`
/// is told how far it is, and what the batch changed.
///
/// It may be stopped and run again at any time. Throws as DistributorUpgradeService.
BulkReport check_everybody(
    Database& database, std::size_t batch, const std::stop_token& stop,
    const std::function<void(const BulkReport&, const std::vector<Upgrade>&)>& progress);

}  // namespace errand::distributors
