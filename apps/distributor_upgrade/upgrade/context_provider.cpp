#include "distributor_upgrade/upgrade/context_provider.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace errand::distributors {
namespace {

using std::chrono::days;

constexpr const char* kSelect =
    "SELECT id, name, level_id, version, joined_at, level_since FROM distributor ";

std::int64_t whole_days(Timestamp from, Timestamp to) {
  return std::max<std::int64_t>(0, std::chrono::floor<days>(to - from).count());
}

UpgradeContext context_of(const Row& row, Timestamp now) {
  UpgradeContext context{.distributor_id = row[0].number(),
                         .name = row[1].text(),
                         .level_id = row[2].number(),
                         .version = row[3].number()};
  context.figures.set(Figure::active_days, whole_days(row[4].time(), now));
  context.figures.set(Figure::days_at_level, whole_days(row[5].time(), now));
  context.figures.leave_out(Figure::direct_team_size);
  context.figures.leave_out(Figure::indirect_team_size);
  context.figures.leave_out(Figure::team_size);
  return context;
}

/// `contexts` are sorted by id.
void add_withdrawals(Session& session, std::vector<UpgradeContext>& contexts) {
  if (contexts.empty()) return;
  constexpr days kRecent{30};
  const Answer sums = session.run(
      "SELECT distributor_id, count(*), CAST(sum(amount_cents) AS BIGINT), "
      "CAST(sum(CASE WHEN completed_at >= $3 THEN amount_cents ELSE 0 END) AS BIGINT) "
      "FROM withdraw_ledger WHERE status = 'completed' AND distributor_id BETWEEN $1 AND $2 "
      "GROUP BY distributor_id",
      {contexts.front().distributor_id, contexts.back().distributor_id,
       to_sql_time(session.now() - kRecent)});
  std::unordered_map<std::int64_t, Figures*> by_id;
  for (UpgradeContext& context : contexts) by_id.emplace(context.distributor_id, &context.figures);
  for (const Row& row : sums.rows) {
    const auto found = by_id.find(row[0].number());
    if (found == by_id.end()) continue;
    Figures& figures = *found->second;
    figures.set(Figure::withdrawal_count, row[1].number());
    figures.set(Figure::withdrawn_total, Decimal::from_cents(row[2].number()));
    figures.set(Figure::withdrawn_30_days, Decimal::from_cents(row[3].number()));
  }
}

std::vector<UpgradeContext> contexts_of(Session& session, const Answer& found) {
  std::vector<UpgradeContext> contexts;
  contexts.reserve(found.rows.size());
  for (const Row& row : found.rows) contexts.push_back(context_of(row, session.now()));
  add_withdrawals(session, contexts);
  return contexts;
}

}  // namespace

std::optional<UpgradeContext> UpgradeContextProvider::find(Session& session, std::int64_t id) {
  auto contexts = contexts_of(session, session.run(std::string{kSelect} + "WHERE id = $1", {id}));
  if (contexts.empty()) return std::nullopt;
  return std::move(contexts.front());
}

std::vector<UpgradeContext> UpgradeContextProvider::next(Session& session, std::int64_t after,
                                                         std::size_t limit) {
  return contexts_of(session,
                     session.run(std::string{kSelect} + "WHERE id > $1 ORDER BY id LIMIT $2",
                                 {after, static_cast<std::int64_t>(limit)}));
}

void UpgradeContextProvider::add_team(Session& session, UpgradeContext& context) {
  // UNION, not UNION ALL: a ring of sponsors, which no program of ours makes, would never end. It
  // leads back to where it began, too.
  const Answer sizes = session.run(
      "WITH RECURSIVE team(member) AS ("
      "  SELECT id FROM distributor WHERE sponsor_id = $1"
      "  UNION"
      "  SELECT d.id FROM team " +
          session.sponsored_by("team.member") +
          ") SELECT (SELECT count(*) FROM distributor WHERE sponsor_id = $1), "
          "(SELECT count(*) FROM team WHERE member <> $1)",
      {context.distributor_id});
  const Row& row = sizes.rows.at(0);
  add_team(TeamSize{.direct = row[0].number(), .whole = row[1].number()}, context);
}

void UpgradeContextProvider::add_team(const TeamSize& size, UpgradeContext& context) {
  context.figures.set(Figure::direct_team_size, size.direct);
  context.figures.set(Figure::indirect_team_size, size.whole - size.direct);
  context.figures.set(Figure::team_size, size.whole);
}

}  // namespace errand::distributors
