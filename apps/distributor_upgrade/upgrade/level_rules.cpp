#include "distributor_upgrade/upgrade/level_rules.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace errand::distributors {

LevelRules::Step::Step(Level level) : level_{std::move(level)} {
  try {
    criteria_.emplace(level_.criteria.value());
  } catch (const CriteriaException& error) {
    unreadable_ = error.what();
    return;
  }
  asks_about_teams_ = criteria_->ask_about(Figure::direct_team_size) ||
                      criteria_->ask_about(Figure::indirect_team_size) ||
                      criteria_->ask_about(Figure::team_size);
}

template <class Use>
auto LevelRules::Step::with_criteria(Use&& use) const {
  if (!criteria_) throw RuleException{fmt::format("level {}: {}", level_.name, unreadable_)};
  try {
    return use(*criteria_);
  } catch (const RuleException& error) {
    throw RuleException{fmt::format("level {}: {}", level_.name, error.what())};
  }
}

bool LevelRules::Step::holds(const Figures& figures) const {
  return with_criteria([&](const Criteria& criteria) { return criteria.hold(figures); });
}

Verdict LevelRules::Step::judge(const Figures& figures) const {
  return with_criteria([&](const Criteria& criteria) { return criteria.judge(figures); });
}

LevelRules LevelRules::load(Session& session) {
  LevelRules rules;
  rules.levels_ = all_levels(session);
  rules.may_skip_ = may_skip_levels(session);
  for (const Level& level : rules.levels_) {
    if (level.criteria) rules.steps_.emplace_back(level);
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
    if (step.level().rank > rank) above.push_back(&step);
  }
  return above;
}

LevelRules::Reach LevelRules::reach(UpgradeContext& context, const AddTeam& add_team) const {
  Reach reach;
  for (const Step* step : steps_above(context.level_id)) {
    if (step->asks_about_teams() && !context.figures.has(Figure::team_size)) add_team(context);
    bool holds = false;
    try {
      holds = step->holds(context.figures);
    } catch (const RuleException& error) {
      if (reach.problem.empty()) reach.problem = error.what();
    }
    if (holds) {
      reach.highest = step;
    } else if (!may_skip_) {
      break;
    }
  }
  return reach;
}

}  // namespace errand::distributors
