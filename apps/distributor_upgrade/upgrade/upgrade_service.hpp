#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distributor_upgrade/store/database.hpp"
#include "distributor_upgrade/upgrade/context_provider.hpp"
#include "distributor_upgrade/upgrade/level_rules.hpp"

namespace errand::distributors {

struct Upgrade {
  std::int64_t distributor_id = 0;
  std::string name{};
  std::string previous_level{};
  std::string new_level{};
  std::optional<std::int64_t> triggering_withdraw_ledger_id{};
};

/// What a check found.
struct CheckResult {
  bool distributor_known = true;

  /// Why the withdrawal that was named is not linked; empty if it is, or none was named.
  std::string unlinked{};

  std::optional<Upgrade> upgrade{};  ///< none: no higher level is reached
};

/// A look at one distributor, for people.
struct Assessment {
  struct Step {
    Level level;
    Verdict verdict;
  };
  UpgradeContext context{};
  Level level{};
  std::vector<Step> steps{};       ///< above the present level, lowest first
  std::optional<Level> reached{};  ///< where a check would take them
  bool may_skip = false;
};

struct BatchResult {
  std::int64_t checked = 0;
  std::vector<Upgrade> upgrades{};
  std::vector<std::string> failures{};  ///< distributors for whom the criteria cannot be worked out
};

/// Upgrades distributors that have reached a higher level. Thread-safe.
///
/// However often and from wherever one is checked at once, a change of level happens once: it is
/// decided anew under a lock of the distributor's row and committed together with its row in the
/// history, which is unique for the change. Any method throws StorageException, and RuleException
/// if the criteria cannot be worked out; nothing was changed then, unless it says in_doubt, and
/// checking again is always safe.
class DistributorUpgradeService {
 public:
  /// `database` must outlive it.
  explicit DistributorUpgradeService(Database& database) : database_{database} {}

  CheckResult check_and_upgrade(std::int64_t distributor_id,
                                std::optional<std::int64_t> triggering_withdraw_ledger_id = {});

  /// The same for many: two transactions at most.
  BatchResult check_and_upgrade_all(std::span<const std::int64_t> distributor_ids);

  /// Changes nothing. Throws NotFound.
  [[nodiscard]] Assessment assess(std::int64_t distributor_id);

 private:
  Database& database_;
};

}  // namespace errand::distributors
