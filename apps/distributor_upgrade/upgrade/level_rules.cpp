#include "distributor_upgrade/upgrade/level_rules.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace errand::distributors {

LevelRules LevelRules::load(Session& session) {
  LevelRules rules;
  rules.levels_ = all_levels(session);
  rules.may_skip_ = may_skip_levels(session);
  for (const Level& level : rules.levels_) {
    if (!level.criteria) continue;
    try {
      rules.steps_.push_back({level, Criteria{*level.criteria}});
    } catch (const CriteriaException& error) {
      throw RuleException{fmt::format("level {}: {}", level.name, error.what())};
    }
  }
  return rules;
}

const Level& LevelRules::level(std::int64_t id) const {
  const auto found = std::ranges::find(levels_, id, &Level::id);
  if (found == levels_.end()) throw RuleException{fmt::format("there is no level {}", id)};
  return *found;
}

std::vector<const LevelRules::Step*> LevelRules::steps_above(std::int64_t level_id) const {
  const std::int64_t rank = level(level_id).rank;
  std::vector<const Step*> above;
  for (const Step& step : steps_) {
    if (step.level.rank > rank) above.push_back(&step);
  }
  return above;
}

const LevelRules::Step* LevelRules::highest_reached(const UpgradeContext& context) const {
  const Step* highest = nullptr;
  for (const Step* step : steps_above(context.level_id)) {
    if (step->criteria.hold(context.figures)) {
      highest = step;
    } else if (!may_skip_) {
      break;
    }
  }
  return highest;
}

}  // namespace errand::distributors
