#include "distributor_upgrade/model/level.hpp"

#include <utility>

#include "errand/errors.hpp"

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/model/name.hpp"
#include "distributor_upgrade/model/not_found.hpp"

namespace errand::distributors {
std::int64_t add_level(Session& session, const NewLevel& level) {
  check_name(level.name, "the level's name");
  if (level.criteria) (void)Criteria{*level.criteria};
  const Answer added = session.run(
      "INSERT INTO distributor_level (\"rank\", name, criteria) VALUES ($1, $2, $3) "
      "ON CONFLICT DO NOTHING RETURNING id",
      {level.rank, level.name, nullable(level.criteria)});
  if (added.rows.empty()) {
    throw NotPossible{"there is a level with rank " + std::to_string(level.rank) + " or the name " +
                      level.name + " already; see level list"};
  }
  return added.rows[0].at(0).number();
}

std::vector<Level> all_levels(Session& session) {
  std::vector<Level> levels;
  const Answer found =
      session.run("SELECT id, \"rank\", name, criteria FROM distributor_level ORDER BY \"rank\"");
  for (const Row& row : found.rows) {
    levels.push_back({.id = row[0].number(),
                      .rank = row[1].number(),
                      .name = row[2].text(),
                      .criteria = row[3].optional_text()});
  }
  return levels;
}

Level get_level(Session& session, const std::string& name) {
  std::string names;
  for (Level& level : all_levels(session)) {
    if (level.name == name) return std::move(level);
    names += (names.empty() ? "" : ", ") + level.name;
  }
  throw NotFound{"there is no level " + name + "; there are " + (names.empty() ? "none" : names)};
}

void set_criteria(Session& session, const std::string& name,
                  const std::optional<std::string>& criteria) {
  if (criteria) (void)Criteria{*criteria};
  session.run("UPDATE distributor_level SET criteria = $2 WHERE id = $1",
              {get_level(session, name).id, nullable(criteria)});
}

void remove_level(Session& session, const std::string& name) {
  const Level level = get_level(session, name);
  const Answer uses = session.run(
      "SELECT (SELECT count(*) FROM distributor WHERE level_id = $1), (SELECT count(*) FROM "
      "distributor_level_upgrade_history WHERE previous_level_id = $1 OR new_level_id = $1)",
      {level.id});
  const std::int64_t held = uses.rows.at(0).at(0).number();
  const std::int64_t told = uses.rows.at(0).at(1).number();
  if (held > 0 || told > 0) {
    throw NotPossible{"level " + name + " is kept: " + std::to_string(held) +
                      " distributors have it, and the history tells of it " + std::to_string(told) +
                      " times"};
  }
  session.run("DELETE FROM distributor_level WHERE id = $1", {level.id});
}

bool may_skip_levels(Session& session) {
  const Answer rules = session.run("SELECT skip_levels FROM distributor_rules");
  return !rules.rows.empty() && rules.rows[0].at(0).number() != 0;
}

void set_skip_levels(Session& session, bool may_skip) {
  session.run("UPDATE distributor_rules SET skip_levels = $1", {std::int64_t{may_skip ? 1 : 0}});
}

}  // namespace errand::distributors
