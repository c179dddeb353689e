#include "distributor_upgrade/model/distributor.hpp"

#include <algorithm>
#include <map>

#include "distributor_upgrade/model/name.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
namespace {

constexpr const char* kSelect =
    "SELECT d.id, d.name, d.sponsor_id, d.level_id, l.name, d.joined_at, d.level_since "
    "FROM distributor d JOIN distributor_level l ON l.id = d.level_id ";

Distributor distributor_of(const Row& row) {
  return {.id = row[0].number(),
          .name = row[1].text(),
          .sponsor_id = row[2].optional_number(),
          .level_id = row[3].number(),
          .level = row[4].text(),
          .joined_at = row[5].time(),
          .level_since = row[6].time()};
}

}  // namespace

std::int64_t add_distributor(Session& session, const std::string& name,
                             std::optional<std::int64_t> sponsor_id) {
  check_name(name, "the distributor's name");
  if (sponsor_id && !find_distributor(session, *sponsor_id)) {
    throw NotFound{"there is no distributor " + std::to_string(*sponsor_id) + " to be the sponsor"};
  }
  const Answer lowest = session.run("SELECT id FROM distributor_level ORDER BY \"rank\" LIMIT 1");
  if (lowest.rows.empty()) {
    throw NotPossible{
        "there are no levels yet; add the first one: errand-distributors level add 0 Starter"};
  }
  const std::string now = to_sql_time(session.now());
  return session
      .run(
          "INSERT INTO distributor (name, sponsor_id, level_id, joined_at, level_since) "
          "VALUES ($1, $2, $3, $4, $4) RETURNING id",
          {name, nullable(sponsor_id), lowest.rows[0].at(0).number(), now})
      .rows.at(0)
      .at(0)
      .number();
}

std::optional<Distributor> find_distributor(Session& session, std::int64_t id) {
  const Answer found = session.run(std::string{kSelect} + "WHERE d.id = $1", {id});
  if (found.rows.empty()) return std::nullopt;
  return distributor_of(found.rows[0]);
}

Distributor get_distributor(Session& session, std::int64_t id) {
  std::optional<Distributor> found = find_distributor(session, id);
  if (!found) throw NotFound{"there is no distributor " + std::to_string(id)};
  return *std::move(found);
}

std::vector<TeamMember> team_of(Session& session, std::optional<std::int64_t> id, int max_depth,
                                std::size_t limit) {
  // Whoever has a longer way up comes later, so that the limit cuts the lowest first.
  const Answer found = session.run(
      "WITH RECURSIVE team(member, depth) AS ("
      "  SELECT id, 0 FROM distributor WHERE id = $1 OR ($1 IS NULL AND sponsor_id IS NULL)"
      "  UNION ALL"
      "  SELECT d.id, t.depth + 1 FROM team t JOIN distributor d ON d.sponsor_id = t.member"
      "  WHERE t.depth < $2) "
      "SELECT d.id, d.name, d.sponsor_id, d.level_id, l.name, d.joined_at, d.level_since, t.depth "
      "FROM team t JOIN distributor d ON d.id = t.member "
      "JOIN distributor_level l ON l.id = d.level_id ORDER BY t.depth, d.id LIMIT $3",
      {nullable(id), std::int64_t{max_depth}, static_cast<std::int64_t>(limit)});
  std::vector<TeamMember> roots;
  std::map<std::int64_t, std::vector<TeamMember>> by_sponsor;
  for (const Row& row : found.rows) {
    TeamMember member{.distributor = distributor_of(row),
                      .depth = static_cast<int>(row[7].number())};
    auto& where = member.depth == 0 ? roots : by_sponsor[*member.distributor.sponsor_id];
    where.push_back(std::move(member));
  }
  std::vector<TeamMember> team;
  std::vector<TeamMember> open{roots.rbegin(), roots.rend()};
  while (!open.empty()) {
    team.push_back(std::move(open.back()));
    open.pop_back();
    auto& below = by_sponsor[team.back().distributor.id];
    open.insert(open.end(), below.rbegin(), below.rend());
    below.clear();  // a ring of sponsors, which no program of ours makes, is walked once
  }
  return team;
}

}  // namespace errand::distributors
