#include "distributor_upgrade/upgrade/upgrade_service.hpp"

#include <fmt/format.h>
#include <utility>

#include "errand/errors.hpp"

#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"

namespace errand::distributors {
namespace {

/// Why this withdrawal cannot have led to a check of this distributor; empty if it can.
std::string reason_not_to_link(Session& session, std::int64_t withdrawal_id,
                               std::int64_t distributor_id) {
  const std::optional<Withdrawal> found = find_withdrawal(session, withdrawal_id);
  if (!found) return fmt::format("there is no withdrawal {}", withdrawal_id);
  if (found->distributor_id != distributor_id) {
    return fmt::format("withdrawal {} is distributor {}'s", withdrawal_id, found->distributor_id);
  }
  if (found->status != WithdrawalStatus::completed) {
    return fmt::format("withdrawal {} is {}, not completed", withdrawal_id,
                       to_string(found->status));
  }
  return {};
}

UpgradeContext get_context(Session& session, std::int64_t distributor_id) {
  std::optional<UpgradeContext> context = UpgradeContextProvider::find(session, distributor_id);
  if (!context) throw NotFound{fmt::format("there is no distributor {}", distributor_id)};
  UpgradeContextProvider::add_team(session, *context);
  return *std::move(context);
}

/// Tries `attempt` until it says that it is done. It is not when somebody else has changed the
/// level meanwhile, which nobody does often.
template <class Attempt>
void until_done(std::int64_t distributor_id, Attempt&& attempt) {
  constexpr int kMost = 100;
  for (int i = 0; i < kMost; ++i) {
    if (attempt()) return;
  }
  throw ConcurrentModificationException{
      fmt::format("others keep changing distributor {}'s level", distributor_id)};
}

std::optional<Upgrade> perform(Database& database, const LevelChange& change) {
  std::vector<Upgrade> made;
  database.write([&](Session& session) { made = perform_upgrades(session, {&change, 1}); });
  if (made.empty()) return std::nullopt;
  return std::move(made.front());
}

Assessment explain(Session& session, std::int64_t distributor_id) {
  Assessment assessment;
  assessment.context = get_context(session, distributor_id);
  UpgradeContext& context = assessment.context;
  const LevelRules rules = LevelRules::load(session);
  assessment.level = rules.level(context.level_id);
  assessment.may_skip = rules.may_skip();
  for (const LevelRules::Step* step : rules.steps_above(context.level_id)) {
    Assessment::Step& shown = assessment.steps.emplace_back();
    shown.level = step->level();
    try {
      shown.verdict = step->judge(context.figures);
    } catch (const RuleException& error) {
      shown.problem = error.what();
    }
  }
  const LevelRules::Reach reach = rules.reach(context, [](UpgradeContext&) {});
  if (reach.highest != nullptr) assessment.reached = reach.highest->level();
  assessment.problem = reach.problem;
  return assessment;
}

}  // namespace

CheckResult DistributorUpgradeService::check_and_upgrade(
    std::int64_t distributor_id, std::optional<std::int64_t> triggering_withdraw_ledger_id) {
  CheckResult result;
  until_done(distributor_id, [&] {
    result = {};
    std::optional<LevelChange> due;
    database_.read([&](Session& session) {
      std::optional<UpgradeContext> context = UpgradeContextProvider::find(session, distributor_id);
      result.distributor_known = context.has_value();
      if (!context) return;
      if (triggering_withdraw_ledger_id) {
        result.unlinked =
            reason_not_to_link(session, *triggering_withdraw_ledger_id, distributor_id);
      }
      const LevelRules rules = LevelRules::load(session);
      const LevelRules::Reach reach = rules.reach(*context, [&session](UpgradeContext& asked) {
        UpgradeContextProvider::add_team(session, asked);
      });
      result.problem = reach.problem;
      if (reach.highest == nullptr) {
        if (reach.problem.empty()) return;
        throw RuleException{fmt::format("distributor {}: {}", distributor_id, reach.problem)};
      }
      const Level& from = rules.level(context->level_id);
      due = LevelChange{.context = *std::move(context), .from = from, .to = reach.highest->level()};
      if (result.unlinked.empty()) {
        due->triggering_withdraw_ledger_id = triggering_withdraw_ledger_id;
      }
    });
    if (!due) return true;
    result.upgrade = perform(database_, *due);
    return result.upgrade.has_value();
  });
  return result;
}

Assessment DistributorUpgradeService::check_and_explain(std::int64_t distributor_id) {
  Assessment assessment;
  until_done(distributor_id, [&] {
    assessment = assess(distributor_id);
    if (!assessment.reached) return true;
    assessment.upgrade = perform(
        database_,
        {.context = assessment.context, .from = assessment.level, .to = *assessment.reached});
    return assessment.upgrade.has_value();
  });
  return assessment;
}

Assessment DistributorUpgradeService::assess(std::int64_t distributor_id) {
  Assessment assessment;
  database_.read([&](Session& session) { assessment = explain(session, distributor_id); });
  return assessment;
}

Upgrade DistributorUpgradeService::give_level(std::int64_t distributor_id,
                                              const std::string& level_name) {
  std::optional<Upgrade> made;
  until_done(distributor_id, [&] {
    LevelChange change{.by_hand = true};
    database_.read([&](Session& session) {
      change.context = get_context(session, distributor_id);
      change.from = LevelRules::load(session).level(change.context.level_id);
      change.to = get_level(session, level_name);
    });
    if (change.from.id == change.to.id) {
      throw NotPossible{fmt::format("distributor {} is {} already", distributor_id, level_name)};
    }
    made = perform(database_, change);
    return made.has_value();
  });
  return *std::move(made);
}

}  // namespace errand::distributors
