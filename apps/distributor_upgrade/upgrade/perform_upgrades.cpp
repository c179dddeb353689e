#include "distributor_upgrade/upgrade/perform_upgrades.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <unordered_set>

namespace errand::distributors {
namespace {

/// The distributors that still were as they were read. Only numbers are written into the statement.
std::unordered_set<std::int64_t> change_levels(Session& session,
                                               std::span<const LevelChange> changes) {
  std::string rows;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = 0;
  for (const LevelChange& change : changes) {
    const std::int64_t id = change.context.distributor_id;
    lowest = std::min(lowest, id);
    highest = std::max(highest, id);
    fmt::format_to(std::back_inserter(rows), "{}({},{},{})", rows.empty() ? "" : ",", id,
                   change.context.version, change.to.id);
  }
  // Without the bounds PostgreSQL would rather read everybody than look for a thousand.
  const Answer changed = session.run(
      "WITH change(who, seen, target) AS (VALUES " + rows +
          ") UPDATE distributor SET level_id = change.target, version = version + 1, "
          "level_since = $1 FROM change WHERE id = change.who AND version = change.seen "
          "AND id BETWEEN $2 AND $3 RETURNING id",
      {to_sql_time(session.now()), lowest, highest});
  std::unordered_set<std::int64_t> ids;
  for (const Row& row : changed.rows) ids.insert(row[0].number());
  return ids;
}

/// Criteria come from people and are parameters; the figures are numbers, and names of ours.
void record(Session& session, std::span<const LevelChange> changes,
            const std::unordered_set<std::int64_t>& changed) {
  std::vector<Parameter> parameters{to_sql_time(session.now())};
  const auto placeholder = [&](const std::string& criteria) {
    const auto found = std::ranges::find(parameters, Parameter{criteria});
    if (found != parameters.end()) return fmt::format("${}", found - parameters.begin() + 1);
    parameters.emplace_back(criteria);
    return fmt::format("${}", parameters.size());
  };
  std::string rows;
  for (const LevelChange& change : changes) {
    const UpgradeContext& context = change.context;
    if (!changed.contains(context.distributor_id)) continue;
    const auto& ledger = change.triggering_withdraw_ledger_id;
    fmt::format_to(std::back_inserter(rows), "{}({},{},{},{},{},{},'{}',$1)",
                   rows.empty() ? "" : ",", context.distributor_id, context.version,
                   context.level_id, change.to.id, ledger ? std::to_string(*ledger) : "NULL",
                   change.by_hand ? "NULL" : placeholder(change.to.criteria.value()),
                   to_json(context.figures));
  }
  if (rows.empty()) return;
  session.run(
      "INSERT INTO distributor_level_upgrade_history (distributor_id, distributor_version, "
      "previous_level_id, new_level_id, triggering_withdraw_ledger_id, criteria, figures, "
      "upgrade_time) VALUES " +
          rows,
      parameters);
}

}  // namespace

std::vector<Upgrade> perform_upgrades(Session& session, std::span<const LevelChange> changes) {
  // A statement's text is limited, by SQLite to a million bytes.
  constexpr std::size_t kInOneStatement = 1000;
  std::vector<Upgrade> upgrades;
  while (!changes.empty()) {
    const auto some = changes.first(std::min(changes.size(), kInOneStatement));
    changes = changes.subspan(some.size());
    const std::unordered_set<std::int64_t> changed = change_levels(session, some);
    record(session, some, changed);
    for (const LevelChange& change : some) {
      if (!changed.contains(change.context.distributor_id)) continue;
      upgrades.push_back({.distributor_id = change.context.distributor_id,
                          .name = change.context.name,
                          .previous_level = change.from.name,
                          .new_level = change.to.name,
                          .triggering_withdraw_ledger_id = change.triggering_withdraw_ledger_id});
    }
  }
  return upgrades;
}

}  // namespace errand::distributors
