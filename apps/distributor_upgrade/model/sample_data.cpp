#include "distributor_upgrade/model/sample_data.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <random>
#include <vector>

#include "distributor_upgrade/model/distributor.hpp"
#include "distributor_upgrade/model/level.hpp"
#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/withdrawal.hpp"

namespace errand::distributors {
namespace {

using std::chrono::days;

struct SampleWithdrawal {
  std::int64_t amount_cents;
  bool is_completed;
};

struct SamplePerson {
  const char* name;
  int sponsor;  ///< in this list, from 1; 0: none
  int joined_days_ago;
  std::vector<SampleWithdrawal> withdrawals;
};

void add_levels(Session& session) {
  if (!all_levels(session).empty()) {
    throw NotPossible{"there are levels already: sample data is for an empty database"};
  }
  add_level(session, {.rank = 0, .name = "Starter"});
  add_level(session, {.rank = 1, .name = "Bronze", .criteria = "withdrawn_total >= 1000"});
  add_level(session, {.rank = 2,
                      .name = "Silver",
                      .criteria = "withdrawn_total >= 5000 and direct_team_size >= 2"});
  add_level(session,
            {.rank = 3,
             .name = "Gold",
             .criteria = "withdrawn_total >= 20000 and team_size >= 5 and active_days >= 30"});
  add_level(session, {.rank = 4,
                      .name = "Platinum",
                      .criteria = "withdrawn_total >= 50000 and (team_size >= 20 or "
                                  "withdrawn_30_days >= 20000)"});
}

void add_past(Session& session, std::int64_t withdrawal_id, Timestamp completed) {
  session.run(
      "UPDATE withdraw_ledger SET status = 'completed', completed_at = $2, created_at = $2 "
      "WHERE id = $1",
      {withdrawal_id, to_sql_time(completed)});
}

}  // namespace

void add_readable_sample(Database& database) {
  const std::vector<SamplePerson> people{
      {"Chen Wei", 0, 400, {{480'000, true}, {60'000, false}}},
      {"Li Na", 1, 200, {{90'000, true}, {15'050, false}}},
      {"Wang Fang", 1, 180, {{250'000, true}}},
      {"Zhang Min", 2, 90, {{40'000, true}}},
      {"Liu Yang", 2, 60, {{10'000, true}, {95'000, false}}},
      {"赵丽", 3, 45, {{120'000, true}}},
      {"Sun Hao", 6, 20, {}},
  };
  database.write([&](Session& session) {
    add_levels(session);
    std::vector<std::int64_t> ids;
    for (const SamplePerson& person : people) {
      std::optional<std::int64_t> sponsor;
      if (person.sponsor > 0) sponsor = ids.at(static_cast<std::size_t>(person.sponsor) - 1);
      const std::int64_t id = ids.emplace_back(add_distributor(session, person.name, sponsor));
      const Timestamp joined = session.now() - days{person.joined_days_ago};
      session.run("UPDATE distributor SET joined_at = $2, level_since = $2 WHERE id = $1",
                  {id, to_sql_time(joined)});
      for (const SampleWithdrawal& withdrawal : person.withdrawals) {
        const std::int64_t ledger = create_withdrawal(session, id, withdrawal.amount_cents);
        if (withdrawal.is_completed) add_past(session, ledger, joined + days{7});
      }
    }
  });
}

void add_crowd(Database& database, std::int64_t count,
               const std::function<void(std::int64_t)>& progress) {
  constexpr std::int64_t kBatch = 1000;
  std::mt19937_64 random{20251119};  // NOLINT: the same every time, on purpose
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>(random() % bound);
  };
  std::vector<std::int64_t> ids;
  while (static_cast<std::int64_t>(ids.size()) < count) {
    database.write([&](Session& session) {
      const auto levels = all_levels(session);
      if (levels.empty()) throw NotPossible{"there are no levels yet; run seed first"};
      const auto now = session.now();
      const auto size = std::min(kBatch, count - static_cast<std::int64_t>(ids.size()));
      // Only numbers and texts of ours are written into these statements.
      std::string rows;
      for (std::int64_t i = 0; i < size; ++i) {
        const auto number = static_cast<std::int64_t>(ids.size()) + i + 1;
        const std::string joined = to_sql_time(now - days{below(700)});
        fmt::format_to(std::back_inserter(rows), "{}('Distributor {}',{},{},'{}','{}')",
                       i == 0 ? "" : ",", number,
                       ids.empty() ? "NULL" : std::to_string(ids[random() % ids.size()]),
                       levels.front().id, joined, joined);
      }
      const Answer added = session.run(
          "INSERT INTO distributor (name, sponsor_id, level_id, joined_at, level_since) VALUES " +
          rows + " RETURNING id");
      std::string withdrawals;
      for (const Row& row : added.rows) {
        ids.push_back(row[0].number());
        for (auto left = below(4); left > 0; --left) {
          const std::string time = to_sql_time(now - days{below(90)});
          fmt::format_to(std::back_inserter(withdrawals), "{}({},{},'completed','{}','{}')",
                         withdrawals.empty() ? "" : ",", ids.back(), 1000 + below(200'000), time,
                         time);
        }
      }
      session.run(
          "INSERT INTO withdraw_ledger (distributor_id, amount_cents, status, created_at, "
          "completed_at) VALUES " +
          withdrawals);
    });
    progress(static_cast<std::int64_t>(ids.size()));
  }
}

}  // namespace errand::distributors
