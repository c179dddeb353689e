#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "errand/timestamp.hpp"

#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

struct Distributor {
  std::int64_t id = 0;
  std::string name{};
  std::optional<std::int64_t> sponsor_id{};
  std::int64_t level_id = 0;
  std::string level{};
  Timestamp joined_at{};
  Timestamp level_since{};
};

/// Joins now, at the lowest level. Returns its id. Throws NotFound if there is no such sponsor,
/// NotPossible if there are no levels yet, ValidationException for a bad name.
std::int64_t add_distributor(Session& session, const std::string& name,
                             std::optional<std::int64_t> sponsor_id);

[[nodiscard]] std::optional<Distributor> find_distributor(Session& session, std::int64_t id);

/// Throws NotFound.
[[nodiscard]] Distributor get_distributor(Session& session, std::int64_t id);

/// Those with the next higher ids, at most `limit`.
[[nodiscard]] std::vector<Distributor> list_distributors(Session& session, std::int64_t after,
                                                         std::size_t limit);

[[nodiscard]] std::int64_t count_distributors(Session& session);

struct TeamMember {
  Distributor distributor{};
  int depth = 0;  ///< 0: the one whose team it is, or who has no sponsor
};

/// The distributor and the team below, each before those it sponsors and each once; without an id,
/// everybody. Down to `max_depth`, at most `limit` of them: the nearest.
///
/// A ring of sponsors hangs below nobody. Of everybody, it begins with its lowest id.
[[nodiscard]] std::vector<TeamMember> team_of(Session& session, std::optional<std::int64_t> id,
                                              int max_depth, std::size_t limit);

}  // namespace errand::distributors
