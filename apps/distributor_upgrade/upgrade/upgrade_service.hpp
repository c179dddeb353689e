#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/upgrade/level_rules.hpp"
#include "distributor_upgrade/upgrade/perform_upgrades.hpp"

namespace errand::distributors {

/// What a check found.
struct CheckResult {
  bool distributor_known = true;

  /// Why the withdrawal that was named is not linked; empty if it is, or none was named.
  std::string unlinked{};

  std::optional<Upgrade> upgrade{};  ///< none: no higher level is reached

  /// Why it cannot be told whether more than that is reached; empty if it can.
  std::string problem{};
};

/// A check of one distributor, for people.
struct Assessment {
  struct Step {
    Level level{};
    std::optional<Verdict> verdict{};  ///< none: it cannot be worked out
    std::string problem{};             ///< why not
  };
  UpgradeContext context{};  ///< with all figures
  Level level{};
  std::vector<Step> steps{};       ///< above the present level, lowest first
  std::optional<Level> reached{};  ///< where a check takes them
  std::string problem{};           ///< why it cannot be told whether more than that is reached
  bool may_skip = false;
  std::optional<Upgrade> upgrade{};  ///< what was changed because of it
};

/// Upgrades distributors that have reached a higher level. Thread-safe.
///
/// A check decides by one state of the data, without locks, and then changes the level and adds to
/// the history in one transaction, if the level is still the one it decided by; otherwise it looks
/// again. So, however often and from wherever one is checked at once, a change of level happens
/// once. Any method throws StorageException, and RuleException if criteria that matter cannot be
/// worked out; nothing was changed then, unless it says in_doubt, and checking again is always
/// safe.
class DistributorUpgradeService {
 public:
  /// `database` must outlive it.
  explicit DistributorUpgradeService(Database& database) : database_{database} {}

  /// Throws RuleException if criteria that matter cannot be worked out, and no level below theirs
  /// is reached.
  CheckResult check_and_upgrade(std::int64_t distributor_id,
                                std::optional<std::int64_t> triggering_withdraw_ledger_id = {});

  /// The same, and tells what it decided by. Criteria that fail are part of that. Throws NotFound.
  Assessment check_and_explain(std::int64_t distributor_id);

  /// Explains without changing anything. Throws NotFound.
  [[nodiscard]] Assessment assess(std::int64_t distributor_id);

  /// Gives a level by hand, up or down, whatever the criteria say; the history says so. Throws
  /// NotFound; NotPossible if it is the present one.
  Upgrade give_level(std::int64_t distributor_id, const std::string& level_name);

 private:
  Database& database_;
};

}  // namespace errand::distributors
