#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "errand/timestamp.hpp"

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// A row of distributor_level_upgrade_history.
struct UpgradeRecord {
  std::int64_t id = 0;
  std::int64_t distributor_id = 0;
  std::string distributor{};
  std::string previous_level{};
  std::string new_level{};
  std::optional<std::int64_t> triggering_withdraw_ledger_id{};
  std::optional<std::string> criteria{};  ///< as they were; none: somebody gave it by hand
  std::string figures{};                  ///< JSON: what they were at that moment
  Timestamp upgrade_time{};
};

/// The newest first. Throws NotFound if there is no such distributor.
[[nodiscard]] std::vector<UpgradeRecord> list_upgrades(Session& session,
                                                       std::optional<std::int64_t> distributor_id,
                                                       std::size_t limit);

}  // namespace errand::distributors
