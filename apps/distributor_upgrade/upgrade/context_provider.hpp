#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributor_upgrade/criteria/figures.hpp"
#include "distributor_upgrade/model/sponsor_links.hpp"
#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// A distributor as a check sees it.
struct UpgradeContext {
  std::int64_t distributor_id = 0;
  std::string name{};
  std::int64_t level_id = 0;
  std::int64_t version = 0;  ///< of the level: see perform_upgrades()
  Figures figures{};         ///< without the team's, until add_team()
};

/// Where the figures come from.
class UpgradeContextProvider {
 public:
  [[nodiscard]] static std::optional<UpgradeContext> find(Session& session, std::int64_t id);

  /// Those with the next higher ids, at most `limit`. Two statements, however many they are.
  [[nodiscard]] static std::vector<UpgradeContext> next(Session& session, std::int64_t after,
                                                        std::size_t limit);

  /// Walks the whole team, which may be large: everything else is found by an index. For the team
  /// of everybody see SponsorLinks.
  static void add_team(Session& session, UpgradeContext& context);

  static void add_team(const TeamSize& size, UpgradeContext& context);
};

}  // namespace errand::distributors
