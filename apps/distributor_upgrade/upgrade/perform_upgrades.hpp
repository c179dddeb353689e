#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/upgrade/context_provider.hpp"

namespace errand::distributors {

/// A change of level that was decided on.
struct LevelChange {
  UpgradeContext context{};  ///< what it was decided by
  Level from{};
  Level to{};
  bool by_hand = false;  ///< whatever the criteria say
  std::optional<std::int64_t> triggering_withdraw_ledger_id{};
};

/// A change of level that was made.
struct Upgrade {
  std::int64_t distributor_id = 0;
  std::string name{};
  std::string previous_level{};
  std::string new_level{};
  std::optional<std::int64_t> triggering_withdraw_ledger_id{};
};

/// Makes the changes, each with its row of the history, when the session's transaction commits.
/// Returns those that were made: where somebody else has changed the distributor's level since
/// `context` was read, its version is another one, and nothing is done.
///
/// That comparison is what makes a change happen once, from however many processes it is tried:
/// it waits for whoever is about to change the same row, and no lock is held while figures are
/// found out. The history's unique key stands behind it.
[[nodiscard]] std::vector<Upgrade> perform_upgrades(Session& session,
                                                    std::span<const LevelChange> changes);

}  // namespace errand::distributors
