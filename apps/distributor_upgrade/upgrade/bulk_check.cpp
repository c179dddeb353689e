#include "distributor_upgrade/upgrade/bulk_check.hpp"

namespace errand::distributors {
namespace {

std::vector<std::int64_t> next_ids(Session& session, std::int64_t after, std::size_t limit) {
  std::vector<std::int64_t> ids;
  const Answer found = session.run("SELECT id FROM distributor WHERE id > $1 ORDER BY id LIMIT $2",
                                   {after, static_cast<std::int64_t>(limit)});
  for (const Row& row : found.rows) ids.push_back(row[0].number());
  return ids;
}

}  // namespace

BulkReport check_everybody(
    Database& database, std::size_t batch, const std::stop_token& stop,
    const std::function<void(const BulkReport&, const std::vector<Upgrade>&)>& progress) {
  DistributorUpgradeService service{database};
  BulkReport report;
  database.read([&](Session& session) {
    report.total = session.run("SELECT count(*) FROM distributor").rows.at(0).at(0).number();
  });
  std::int64_t last = 0;
  while (true) {
    report.stopped = stop.stop_requested();
    if (report.stopped) break;
    std::vector<std::int64_t> ids;
    database.read([&](Session& session) { ids = next_ids(session, last, batch); });
    if (ids.empty()) break;
    last = ids.back();
    const BatchResult result = service.check_and_upgrade_all(ids);
    report.checked += result.checked;
    report.upgraded += static_cast<std::int64_t>(result.upgrades.size());
    report.failed += static_cast<std::int64_t>(result.failures.size());
    if (report.first_failure.empty() && !result.failures.empty()) {
      report.first_failure = result.failures.front();
    }
    progress(report, result.upgrades);
  }
  return report;
}

}  // namespace errand::distributors
