#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/model/upgrade_history.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"

/// What `--json` prints. Money is a text: readers of JSON make numbers binary.
namespace errand::distributors {

[[nodiscard]] std::string json_of(const Level& level);
[[nodiscard]] std::string json_of(const std::vector<Level>& levels);
[[nodiscard]] std::string json_of(const Distributor& distributor, const Figures& figures);
[[nodiscard]] std::string json_of(const std::vector<Distributor>& distributors);
[[nodiscard]] std::string json_of(const std::vector<TeamMember>& team);
[[nodiscard]] std::string json_of(const Withdrawal& withdrawal);
[[nodiscard]] std::string json_of(const std::vector<Withdrawal>& withdrawals);
[[nodiscard]] std::string json_of(const std::vector<UpgradeRecord>& upgrades);

/// `level` is the one after the check.
[[nodiscard]] std::string json_of(const Assessment& assessment);
[[nodiscard]] std::string json_of(const Upgrade& upgrade);

/// What criteria may ask for.
[[nodiscard]] std::string json_of_figures();

/// One flat object: {"checked":100,"seconds":1.5}.
using JsonMembers =
    std::vector<std::pair<std::string_view, std::variant<std::int64_t, double, bool, std::string>>>;
[[nodiscard]] std::string json_of(const JsonMembers& members);

}  // namespace errand::distributors
