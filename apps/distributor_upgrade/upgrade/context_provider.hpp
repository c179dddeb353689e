#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distributor_upgrade/criteria/figures.hpp"
#include "distributor_upgrade/store/database.hpp"

namespace errand::distributors {

/// A distributor as a check sees it.
struct UpgradeContext {
  std::int64_t distributor_id = 0;
  std::string name{};
  std::int64_t level_id = 0;
  std::int64_t version = 0;
  Figures figures{};
};

/// Where the figures come from.
class UpgradeContextProvider {
 public:
  enum class Lock : std::uint8_t {
    none,
    until_commit,  ///< nobody else changes the distributors' rows before this transaction ends
  };

  /// Those of `ids` that exist, by id. Three statements, however many they are.
  [[nodiscard]] static std::vector<UpgradeContext> contexts(Session& session,
                                                            std::span<const std::int64_t> ids,
                                                            Lock lock);
};

}  // namespace errand::distributors
