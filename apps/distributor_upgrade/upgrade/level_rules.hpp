#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/upgrade/context_provider.hpp"

namespace errand::distributors {

/// The ladder that distributors climb, as it stands in the database. Levels without criteria are
/// not on it: somebody gives them by hand.
class LevelRules {
 public:
  struct Step {
    Level level;
    Criteria criteria;
  };

  /// Throws RuleException if stored criteria make no sense: another program wrote them.
  [[nodiscard]] static LevelRules load(Session& session);

  /// What somebody at this level may rise to, lowest first. Throws RuleException if there is no
  /// such level.
  [[nodiscard]] std::vector<const Step*> steps_above(std::int64_t level_id) const;

  /// The highest step that is reached: all below it must be, too, unless levels may be skipped.
  /// Null if there is none. Throws RuleException.
  [[nodiscard]] const Step* highest_reached(const UpgradeContext& context) const;

  [[nodiscard]] const Level& level(std::int64_t id) const;
  [[nodiscard]] bool may_skip() const noexcept { return may_skip_; }

 private:
  std::vector<Level> levels_;
  std::vector<Step> steps_;
  bool may_skip_ = false;
};

}  // namespace errand::distributors
