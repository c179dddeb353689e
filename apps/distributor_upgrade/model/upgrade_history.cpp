#include "distributor_upgrade/model/upgrade_history.hpp"

#include "distributor_upgrade/model/distributor.hpp"

namespace errand::distributors {

std::vector<UpgradeRecord> list_upgrades(Session& session,
                                         std::optional<std::int64_t> distributor_id,
                                         std::size_t limit) {
  std::string sql =
      "SELECT h.id, h.distributor_id, d.name, p.name, n.name, h.triggering_withdraw_ledger_id, "
      "h.criteria, h.figures, h.upgrade_time FROM distributor_level_upgrade_history h "
      "JOIN distributor d ON d.id = h.distributor_id "
      "JOIN distributor_level p ON p.id = h.previous_level_id "
      "JOIN distributor_level n ON n.id = h.new_level_id";
  std::vector<Parameter> parameters{static_cast<std::int64_t>(limit)};
  if (distributor_id) {
    (void)get_distributor(session, *distributor_id);
    sql += " WHERE h.distributor_id = $2";
    parameters.emplace_back(*distributor_id);
  }
  std::vector<UpgradeRecord> upgrades;
  for (const Row& row : session.run(sql + " ORDER BY h.id DESC LIMIT $1", parameters).rows) {
    upgrades.push_back({.id = row[0].number(),
                        .distributor_id = row[1].number(),
                        .distributor = row[2].text(),
                        .previous_level = row[3].text(),
                        .new_level = row[4].text(),
                        .triggering_withdraw_ledger_id = row[5].optional_number(),
                        .criteria = row[6].optional_text(),
                        .figures = row[7].text(),
                        .upgrade_time = row[8].time()});
  }
  return upgrades;
}

}  // namespace errand::distributors
