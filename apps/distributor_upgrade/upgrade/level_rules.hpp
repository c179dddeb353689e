#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/upgrade/context_provider.hpp"

namespace errand::distributors {

/// Finds out the team's figures of a distributor, when criteria first ask for them.
using AddTeam = std::function<void(UpgradeContext&)>;

/// The ladder that distributors climb, as it stands in the database. Levels without criteria are
/// not on it: somebody gives them by hand.
class LevelRules {
 public:
  class Step {
   public:
    /// Criteria that make no sense, because another program wrote them, are told when somebody
    /// comes to this step, and not before: those below can go on.
    explicit Step(Level level);

    [[nodiscard]] const Level& level() const noexcept { return level_; }
    [[nodiscard]] bool asks_about_teams() const noexcept { return asks_about_teams_; }

    // Throw RuleException that names the level.
    [[nodiscard]] bool holds(const Figures& figures) const;
    [[nodiscard]] Verdict judge(const Figures& figures) const;

   private:
    template <class Use>
    auto with_criteria(Use&& use) const;

    Level level_;
    std::optional<Criteria> criteria_;
    std::string unreadable_;  ///< why there are no criteria
    bool asks_about_teams_ = false;
  };

  [[nodiscard]] static LevelRules load(Session& session);

  /// What somebody at this level may rise to, lowest first. Throws RuleException if there is no
  /// such level.
  [[nodiscard]] std::vector<const Step*> steps_above(std::int64_t level_id) const;

  /// How far somebody has come.
  struct Reach {
    const Step* highest = nullptr;  ///< null: no step is reached

    /// Why a step that matters cannot be worked out; `highest` is reached for certain all the same.
    std::string problem{};
  };

  /// The highest step that is reached: all below it must be, too, unless levels may be skipped.
  [[nodiscard]] Reach reach(UpgradeContext& context, const AddTeam& add_team) const;

  [[nodiscard]] const Level& level(std::int64_t id) const;
  [[nodiscard]] bool may_skip() const noexcept { return may_skip_; }

 private:
  std::vector<Level> levels_;
  std::vector<Step> steps_;
  bool may_skip_ = false;
};

}  // namespace errand::distributors
