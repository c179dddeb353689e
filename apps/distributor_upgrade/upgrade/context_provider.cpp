#include "distributor_upgrade/upgrade/context_provider.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace errand::distributors {
namespace {

using std::chrono::days;

/// A condition on ids, and its parameters. One id is a parameter, so that the statement is the same
/// every time; of many, the numbers themselves are written.
struct IdCondition {
  explicit IdCondition(std::span<const std::int64_t> ids) {
    if (ids.size() == 1) {
      text = " = $1";
      parameters.emplace_back(ids.front());
      return;
    }
    for (const std::int64_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    text = " IN (" + text + ")";
  }

  std::string text;
  std::vector<Parameter> parameters;
};

std::int64_t whole_days(Timestamp from, Timestamp to) {
  return std::max<std::int64_t>(0, std::chrono::floor<days>(to - from).count());
}

using ById = std::unordered_map<std::int64_t, UpgradeContext*>;

void add_withdrawals(Session& session, const IdCondition& ids, const ById& by_id) {
  constexpr days kRecent{30};
  const std::string since = to_sql_time(session.now() - kRecent);
  std::vector<Parameter> parameters = ids.parameters;
  parameters.emplace_back(since);
  const Answer sums = session.run(
      "SELECT distributor_id, count(*), CAST(sum(amount_cents) AS BIGINT), "
      "CAST(sum(CASE WHEN completed_at >= $" +
          std::to_string(parameters.size()) +
          " THEN amount_cents ELSE 0 END) AS BIGINT) FROM withdraw_ledger "
          "WHERE status = 'completed' AND distributor_id" +
          ids.text + " GROUP BY distributor_id",
      parameters);
  for (const Row& row : sums.rows) {
    const auto found = by_id.find(row[0].number());
    if (found == by_id.end()) continue;
    Figures& figures = found->second->figures;
    figures.set(Figure::withdrawal_count, row[1].number());
    figures.set(Figure::withdrawn_total, Decimal::from_cents(row[2].number()));
    figures.set(Figure::withdrawn_30_days, Decimal::from_cents(row[3].number()));
  }
}

void add_teams(Session& session, const IdCondition& ids, const ById& by_id) {
  // UNION, not UNION ALL: a ring of sponsors, which no program of ours makes, would never end.
  const Answer sizes = session.run(
      "WITH RECURSIVE team(root, member, direct) AS ("
      "  SELECT sponsor_id, id, 1 FROM distributor WHERE sponsor_id" +
          ids.text +
          "  UNION"
          "  SELECT t.root, d.id, 0 FROM team t JOIN distributor d ON d.sponsor_id = t.member) "
          "SELECT root, sum(direct), count(*) FROM team GROUP BY root",
      ids.parameters);
  for (const Row& row : sizes.rows) {
    const auto found = by_id.find(row[0].number());
    if (found == by_id.end()) continue;
    Figures& figures = found->second->figures;
    const std::int64_t direct = row[1].number();
    const std::int64_t all = row[2].number();
    figures.set(Figure::direct_team_size, direct);
    figures.set(Figure::indirect_team_size, all - direct);
    figures.set(Figure::team_size, all);
  }
}

}  // namespace

std::vector<UpgradeContext> UpgradeContextProvider::contexts(Session& session,
                                                             std::span<const std::int64_t> ids,
                                                             Lock lock) {
  if (ids.empty()) return {};
  const IdCondition condition{ids};
  // In the order of ids, whoever asks: two that lock several never wait for each other in a ring.
  const Answer rows = session.run(
      "SELECT id, name, level_id, version, joined_at, level_since FROM distributor WHERE id" +
          condition.text + " ORDER BY id" +
          std::string{lock == Lock::until_commit ? session.locking_rows() : ""},
      condition.parameters);
  std::vector<UpgradeContext> contexts;
  contexts.reserve(rows.rows.size());
  for (const Row& row : rows.rows) {
    UpgradeContext& context = contexts.emplace_back();
    context.distributor_id = row[0].number();
    context.name = row[1].text();
    context.level_id = row[2].number();
    context.version = row[3].number();
    context.figures.set(Figure::active_days, whole_days(row[4].time(), session.now()));
    context.figures.set(Figure::days_at_level, whole_days(row[5].time(), session.now()));
  }
  ById by_id;
  for (UpgradeContext& context : contexts) by_id.emplace(context.distributor_id, &context);
  add_withdrawals(session, condition, by_id);
  add_teams(session, condition, by_id);
  return contexts;
}

}  // namespace errand::distributors
