#include "distributor_upgrade/model/distributor.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "distributor_upgrade/model/name.hpp"
#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/sponsor_links.hpp"

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

/// By id, at most `limit`; `condition` may ask for `more` from $2 on.
std::vector<Distributor> select(Session& session, const std::string& condition, std::size_t limit,
                                const std::vector<Parameter>& more) {
  std::vector<Parameter> parameters{static_cast<std::int64_t>(limit)};
  parameters.insert(parameters.end(), more.begin(), more.end());
  std::vector<Distributor> distributors;
  const Answer found =
      session.run(std::string{kSelect} + condition + " ORDER BY d.id LIMIT $1", parameters);
  for (const Row& row : found.rows) distributors.push_back(distributor_of(row));
  return distributors;
}

/// Goes down level by level, so that the limit cuts the lowest, and never twice to the same.
class TeamWalk {
 public:
  TeamWalk(Session& session, int max_depth, std::size_t limit)
      : session_{session}, max_depth_{max_depth}, limit_{limit} {}

  [[nodiscard]] bool is_full() const noexcept { return seen_.size() >= limit_; }

  void from(const std::vector<Distributor>& top) {
    std::vector<std::int64_t> level = keep(top, 0);
    for (int depth = 1; depth <= max_depth_ && !level.empty() && !is_full(); ++depth) {
      level = keep(sponsored_by(level), depth);
    }
  }

  /// Each before those it sponsors.
  [[nodiscard]] std::vector<TeamMember> in_order() {
    std::vector<TeamMember> team;
    std::vector<TeamMember> open{tops_.rbegin(), tops_.rend()};
    while (!open.empty()) {
      team.push_back(std::move(open.back()));
      open.pop_back();
      const auto& below = below_[team.back().distributor.id];
      open.insert(open.end(), below.rbegin(), below.rend());
    }
    return team;
  }

 private:
  /// Those who are new, and fit.
  std::vector<std::int64_t> keep(const std::vector<Distributor>& found, int depth) {
    std::vector<std::int64_t> kept;
    for (const Distributor& distributor : found) {
      if (is_full() || !seen_.insert(distributor.id).second) continue;
      kept.push_back(distributor.id);
      auto& siblings = depth == 0 ? tops_ : below_[*distributor.sponsor_id];
      siblings.push_back({.distributor = distributor, .depth = depth});
    }
    return kept;
  }

  std::vector<Distributor> sponsored_by(const std::vector<std::int64_t>& sponsors) {
    constexpr std::size_t kInOneStatement = 1000;
    std::vector<Distributor> found;
    for (std::size_t first = 0; first < sponsors.size(); first += kInOneStatement) {
      std::string ids;
      for (std::size_t i = first; i < std::min(first + kInOneStatement, sponsors.size()); ++i) {
        ids += (ids.empty() ? "" : ",") + std::to_string(sponsors[i]);
      }
      const auto some = select(session_, "WHERE d.sponsor_id IN (" + ids + ")", limit_, {});
      found.insert(found.end(), some.begin(), some.end());
    }
    return found;
  }

  Session& session_;
  const int max_depth_;
  const std::size_t limit_;
  std::unordered_set<std::int64_t> seen_;
  std::vector<TeamMember> tops_;
  std::unordered_map<std::int64_t, std::vector<TeamMember>> below_;
};

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

std::vector<Distributor> list_distributors(Session& session, std::int64_t after,
                                           std::size_t limit) {
  return select(session, "WHERE d.id > $2", limit, {after});
}

std::int64_t count_distributors(Session& session) {
  return session.run("SELECT count(*) FROM distributor").rows.at(0).at(0).number();
}

std::vector<TeamMember> team_of(Session& session, std::optional<std::int64_t> id, int max_depth,
                                std::size_t limit) {
  TeamWalk walk{session, max_depth, limit};
  if (id) {
    walk.from(select(session, "WHERE d.id = $2", limit, {*id}));
  } else {
    walk.from(select(session, "WHERE d.sponsor_id IS NULL", limit, {}));
    if (!walk.is_full()) {
      const SponsorLinks links = SponsorLinks::load(session);
      for (const std::int64_t ring : links.rings()) {
        walk.from(select(session, "WHERE d.id = $2", limit, {ring}));
      }
    }
  }
  return walk.in_order();
}

}  // namespace errand::distributors
