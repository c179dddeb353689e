#include "distributor_upgrade/upgrade/upgrade_service.hpp"

#include <fmt/format.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"

namespace errand::distributors {
namespace {

using Lock = UpgradeContextProvider::Lock;

/// Why this withdrawal cannot have led to a check of this distributor; empty if it can.
std::string reason_not_to_link(Session& session, std::int64_t withdrawal_id,
                               std::int64_t distributor_id) {
  const std::optional<Withdrawal> found = find_withdrawal(session, withdrawal_id);
  if (!found) return fmt::format("there is no withdrawal {}", withdrawal_id);
  if (found->distributor_id != distributor_id) {
    return fmt::format("withdrawal {} is distributor {}'s", withdrawal_id, found->distributor_id);
  }
  if (found->status != "completed") {
    return fmt::format("withdrawal {} is {}, not completed", withdrawal_id, found->status);
  }
  return {};
}

/// `context` was read under a lock in the same session.
Upgrade perform_upgrade(Session& session, const LevelRules& rules, const UpgradeContext& context,
                        const LevelRules::Step& to, std::optional<std::int64_t> withdrawal_id) {
  const std::string now = to_sql_time(session.now());
  const Answer changed = session.run(
      "UPDATE distributor SET level_id = $2, version = version + 1, level_since = $3 "
      "WHERE id = $1 AND version = $4",
      {context.distributor_id, to.level.id, now, context.version});
  // The lock makes this impossible; where a lock is not what it should be, it is found out here.
  if (changed.changed != 1) {
    throw ConcurrentModificationException{
        fmt::format("distributor {} was changed by somebody else", context.distributor_id)};
  }
  session.run(
      "INSERT INTO distributor_level_upgrade_history (distributor_id, distributor_version, "
      "previous_level_id, new_level_id, triggering_withdraw_ledger_id, criteria, figures, "
      "upgrade_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
      {context.distributor_id, context.version, context.level_id, to.level.id,
       nullable(withdrawal_id), to.criteria.text(), to_json(context.figures), now});
  return {.distributor_id = context.distributor_id,
          .name = context.name,
          .previous_level = rules.level(context.level_id).name,
          .new_level = to.level.name,
          .triggering_withdraw_ledger_id = withdrawal_id};
}

}  // namespace

CheckResult DistributorUpgradeService::check_and_upgrade(
    std::int64_t distributor_id, std::optional<std::int64_t> triggering_withdraw_ledger_id) {
  CheckResult result;
  bool is_due = false;
  // Most checks end here: nothing is locked, nobody waits.
  database_.read([&](Session& session) {
    const auto contexts =
        UpgradeContextProvider::contexts(session, {&distributor_id, 1}, Lock::none);
    result.distributor_known = !contexts.empty();
    if (contexts.empty()) return;
    if (triggering_withdraw_ledger_id) {
      result.unlinked = reason_not_to_link(session, *triggering_withdraw_ledger_id, distributor_id);
    }
    is_due = LevelRules::load(session).highest_reached(contexts.front()) != nullptr;
  });
  if (!is_due) return result;

  if (!result.unlinked.empty()) triggering_withdraw_ledger_id.reset();
  database_.write([&](Session& session) {
    const auto contexts =
        UpgradeContextProvider::contexts(session, {&distributor_id, 1}, Lock::until_commit);
    if (contexts.empty()) return;
    const LevelRules rules = LevelRules::load(session);
    const LevelRules::Step* to = rules.highest_reached(contexts.front());
    if (to == nullptr) return;  // somebody else was quicker
    result.upgrade =
        perform_upgrade(session, rules, contexts.front(), *to, triggering_withdraw_ledger_id);
  });
  return result;
}

BatchResult DistributorUpgradeService::check_and_upgrade_all(
    std::span<const std::int64_t> distributor_ids) {
  BatchResult result;
  std::vector<std::int64_t> due;
  database_.read([&](Session& session) {
    const LevelRules rules = LevelRules::load(session);
    for (const UpgradeContext& context :
         UpgradeContextProvider::contexts(session, distributor_ids, Lock::none)) {
      ++result.checked;
      try {
        if (rules.highest_reached(context) != nullptr) due.push_back(context.distributor_id);
      } catch (const RuleException& error) {
        result.failures.push_back(
            fmt::format("distributor {}: {}", context.distributor_id, error.what()));
      }
    }
  });
  if (due.empty()) return result;

  database_.write([&](Session& session) {
    const LevelRules rules = LevelRules::load(session);
    for (const UpgradeContext& context :
         UpgradeContextProvider::contexts(session, due, Lock::until_commit)) {
      const LevelRules::Step* to = rules.highest_reached(context);
      if (to == nullptr) continue;
      result.upgrades.push_back(perform_upgrade(session, rules, context, *to, std::nullopt));
    }
  });
  return result;
}

Assessment DistributorUpgradeService::assess(std::int64_t distributor_id) {
  Assessment assessment;
  database_.read([&](Session& session) {
    auto contexts = UpgradeContextProvider::contexts(session, {&distributor_id, 1}, Lock::none);
    if (contexts.empty()) {
      throw NotFound{"there is no distributor " + std::to_string(distributor_id)};
    }
    const LevelRules rules = LevelRules::load(session);
    assessment.context = std::move(contexts.front());
    assessment.level = rules.level(assessment.context.level_id);
    assessment.may_skip = rules.may_skip();
    for (const LevelRules::Step* step : rules.steps_above(assessment.context.level_id)) {
      assessment.steps.push_back({step->level, step->criteria.judge(assessment.context.figures)});
    }
    const LevelRules::Step* reached = rules.highest_reached(assessment.context);
    if (reached != nullptr) assessment.reached = reached->level;
  });
  return assessment;
}

}  // namespace errand::distributors
