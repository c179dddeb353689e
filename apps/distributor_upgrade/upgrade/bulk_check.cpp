#include "distributor_upgrade/upgrade/bulk_check.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "errand/errors.hpp"

#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/upgrade/level_rules.hpp"
#include "distributor_upgrade/upgrade/upgrade_service.hpp"

namespace errand::distributors {
namespace {

using Retry = StorageException::Retry;

void wait(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, time, [] { return false; });
}

/// Again, after passing trouble. What was in doubt may be repeated, too: a change is made once.
template <class Body>
void with_patience(const std::stop_token& stop, Body&& body) {
  using namespace std::chrono_literals;
  for (const auto pause : {100ms, 1000ms, 5000ms}) {
    try {
      return body();
    } catch (const StorageException& error) {
      if (error.retry() == Retry::useless || stop.stop_requested()) throw;
      wait(pause, stop);
    }
  }
  body();
}

class BulkCheck {
 public:
  BulkCheck(Database& database, const BulkOptions& options, const std::stop_token& stop)
      : database_{database}, options_{options}, stop_{stop} {
    with_patience(stop_, [&] {
      database_.read([&](Session& session) { report_.total = count_distributors(session); });
    });
  }

  [[nodiscard]] const BulkReport& report() const noexcept { return report_; }

  /// False: there is nobody left.
  bool check_next(std::vector<Upgrade>& made) {
    report_.stopped = stop_.stop_requested();
    if (report_.stopped) return false;
    Looked looked;
    with_patience(stop_,
                  [&] { database_.read([&](Session& session) { looked = look(session); }); });
    if (looked.count == 0) return false;
    last_ = looked.last;
    report_.checked += looked.count;
    for (const std::string& failure : looked.failures) add_failure(failure);
    made.clear();
    if (!options_.dry_run) made = upgrade(looked.due);
    report_.upgraded +=
        static_cast<std::int64_t>(options_.dry_run ? looked.due.size() : made.size());
    return true;
  }

 private:
  struct Looked {
    std::int64_t count = 0;
    std::int64_t last = 0;
    std::vector<LevelChange> due{};
    std::vector<std::string> failures{};
  };

  Looked look(Session& session) {
    Looked looked;
    const LevelRules rules = LevelRules::load(session);
    const AddTeam add_team = [&](UpgradeContext& context) {
      if (!links_) links_ = SponsorLinks::load(session);
      UpgradeContextProvider::add_team(links_->team_size(context.distributor_id), context);
    };
    for (UpgradeContext& context : UpgradeContextProvider::next(session, last_, options_.batch)) {
      ++looked.count;
      looked.last = context.distributor_id;
      const LevelRules::Reach reach = rules.reach(context, add_team);
      if (!reach.problem.empty()) {
        looked.failures.push_back(told_of(context.distributor_id, reach.problem));
      }
      if (reach.highest == nullptr) continue;
      const Level& from = rules.level(context.level_id);
      looked.due.push_back(
          {.context = std::move(context), .from = from, .to = reach.highest->level()});
    }
    return looked;
  }

  /// All together; where that fails, or somebody was quicker, each alone.
  std::vector<Upgrade> upgrade(const std::vector<LevelChange>& due) {
    std::vector<Upgrade> made;
    if (due.empty()) return made;
    try {
      with_patience(stop_, [&] {
        database_.write([&](Session& session) { made = perform_upgrades(session, due); });
      });
      if (made.size() == due.size()) return made;
    } catch (const StorageException& error) {
      if (error.retry() != Retry::useless) throw;
      made.clear();
    }
    DistributorUpgradeService service{database_};
    for (const LevelChange& change : due) {
      const std::int64_t id = change.context.distributor_id;
      if (std::ranges::find(made, id, &Upgrade::distributor_id) != made.end()) continue;
      try {
        std::optional<Upgrade> alone;
        with_patience(stop_, [&] { alone = service.check_and_upgrade(id).upgrade; });
        if (alone) made.push_back(*std::move(alone));
      } catch (const StorageException& error) {
        if (error.retry() != Retry::useless) throw;
        add_failure(told_of(id, error.what()));
      } catch (const Error& error) {
        add_failure(told_of(id, error.what()));
      }
    }
    return made;
  }

  static std::string told_of(std::int64_t distributor_id, std::string_view reason) {
    return fmt::format("distributor {}: {}", distributor_id, reason);
  }

  void add_failure(const std::string& failure) {
    ++report_.failed;
    if (report_.first_failure.empty()) report_.first_failure = failure;
  }

  Database& database_;
  const BulkOptions options_;
  const std::stop_token stop_;
  std::int64_t last_ = 0;
  std::optional<SponsorLinks> links_;
  BulkReport report_;
};

}  // namespace

BulkReport check_everybody(
    Database& database, const BulkOptions& options, const std::stop_token& stop,
    const std::function<void(const BulkReport&, const std::vector<Upgrade>&)>& progress) {
  BulkCheck check{database, options, stop};
  std::vector<Upgrade> made;
  while (check.check_next(made)) progress(check.report(), made);
  return check.report();
}

}  // namespace errand::distributors
