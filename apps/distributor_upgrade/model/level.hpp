#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

struct Level {
  std::int64_t id = 0;
  std::int64_t rank = 0;  ///< higher is better
  std::string name{};
  std::optional<std::string> criteria{};  ///< none: no check leads to it
};

struct NewLevel {
  std::int64_t rank = 0;
  std::string name{};
  std::optional<std::string> criteria{};
};

/// Returns its id. Throws CriteriaException; ValidationException for a bad name; NotPossible if the
/// rank or the name is taken.
std::int64_t add_level(Session& session, const NewLevel& level);

/// Throws NotFound.
[[nodiscard]] Level get_level(Session& session, const std::string& name);

/// Of a level that is there: none takes it off the ladder. Nobody is taken down by that. Throws
/// CriteriaException, NotFound.
void set_criteria(Session& session, const std::string& name,
                  const std::optional<std::string>& criteria);

/// Throws NotFound; NotPossible while distributors have it, or the history tells of it.
void remove_level(Session& session, const std::string& name);

/// By rank, the lowest first.
[[nodiscard]] std::vector<Level> all_levels(Session& session);

/// Whether a distributor may rise past a level whose criteria do not hold.
[[nodiscard]] bool may_skip_levels(Session& session);
void set_skip_levels(Session& session, bool may_skip);

}  // namespace errand::distributors
