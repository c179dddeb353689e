#include <chrono>
#include <gmock/gmock.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/distributors_fixture.hpp"
#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/sample_data.hpp"
#include "distributor_upgrade/upgrade/bulk_check.hpp"
#include "distributor_upgrade/upgrade/load_simulation.hpp"

namespace errand::distributors {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;

class UpgradeService : public DistributorsTest {
 protected:
  Figures figures_of(std::int64_t id) {
    Figures figures;
    database->read([&](Session& session) {
      UpgradeContext context = UpgradeContextProvider::find(session, id).value();
      UpgradeContextProvider::add_team(session, context);
      figures = context.figures;
    });
    return figures;
  }
};
INSTANTIATE_TEST_SUITE_P(Distributors, UpgradeService,
                         ::testing::Values(Kind::sqlite, Kind::postgres), kind_name);

TEST_P(UpgradeService, FiguresComeFromCompletedWithdrawalsAndTheTeam) {
  withdraw(somebody, 100'005);
  clock.advance(days{31});
  withdraw(somebody, 20'010);
  pending(999'999);
  const std::int64_t direct = add("Li Na", somebody);
  add("Wang Fang", somebody);
  add("Liu Yang", add("Zhang Min", direct));
  const Figures figures = figures_of(somebody);
  EXPECT_EQ(figures.text(Figure::withdrawn_total), "1200.15");
  EXPECT_EQ(figures.text(Figure::withdrawn_30_days), "200.10");
  EXPECT_EQ(figures.text(Figure::withdrawal_count), "2");
  EXPECT_EQ(figures.text(Figure::direct_team_size), "2");
  EXPECT_EQ(figures.text(Figure::indirect_team_size), "2");
  EXPECT_EQ(figures.text(Figure::team_size), "4");
  EXPECT_EQ(figures.text(Figure::active_days), "31");
  EXPECT_EQ(figures.text(Figure::days_at_level), "31");
}

TEST_P(UpgradeService, ARingOfSponsorsIsCountedOnce) {
  const std::int64_t first = add("Li Na", somebody);
  const std::int64_t second = add("Wang Fang", somebody);
  add("Zhang Min", first);
  const std::int64_t last = add("Liu Yang", second);
  sql("UPDATE distributor SET sponsor_id = " + std::to_string(last) +
      " WHERE id = " + std::to_string(somebody));
  const Figures figures = figures_of(somebody);
  EXPECT_EQ(figures.text(Figure::direct_team_size), "2");
  EXPECT_EQ(figures.text(Figure::indirect_team_size), "2");
  EXPECT_EQ(figures.text(Figure::team_size), "4");
  EXPECT_EQ(figures_of(last).text(Figure::direct_team_size), "1");
  EXPECT_EQ(figures_of(last).text(Figure::team_size), "4");
  EXPECT_EQ(figures_of(first).text(Figure::team_size), "1");
}

TEST_P(UpgradeService, TeamsAreCountedOnlyWhereCriteriaComeToThem) {
  withdraw(somebody, 120'000);
  add("Li Na", somebody);
  set_criteria("Silver", "withdrawn_total >= 1000 and withdrawal_count >= 2");
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Bronze");
  EXPECT_THAT(history()[0].figures, ::testing::Not(::testing::HasSubstr("team_size")));
  set_criteria("Silver", "team_size >= 1");
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Silver");
  EXPECT_THAT(history()[0].figures, ::testing::HasSubstr("\"team_size\":1"));
}

TEST_P(UpgradeService, ALevelGivenByHandIsInTheHistory) {
  EXPECT_EQ(service.give_level(somebody, "Silver").previous_level, "Starter");
  EXPECT_EQ(level_of(somebody), "Silver");
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].criteria, std::nullopt);
  EXPECT_EQ(service.give_level(somebody, "Bronze").new_level, "Bronze") << "down, too";
  EXPECT_THROW(service.give_level(somebody, "Bronze"), NotPossible);
  EXPECT_THROW(service.give_level(somebody, "Diamond"), NotFound);
  EXPECT_THROW(service.give_level(404, "Silver"), NotFound);
}

TEST_P(UpgradeService, TakesTheHighestLevelReachedInOneUpgrade) {
  withdraw(somebody, 600'000);
  add("Li Na", somebody);
  add("Wang Fang", somebody);
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Silver");
  EXPECT_EQ(history().size(), 1U);
}

TEST_P(UpgradeService, SkipsALevelOnlyWhereThatIsAllowed) {
  write([&](Session& session) {
    add_level(session, {.rank = 3, .name = "Gold", .criteria = "withdrawn_total >= 6000"});
  });
  withdraw(somebody, 600'000);  // reaches Bronze and Gold, but not Silver
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Bronze");
  write([&](Session& session) { set_skip_levels(session, true); });
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Gold");
  EXPECT_EQ(history().size(), 2U);
}

TEST_P(UpgradeService, ALevelWithoutCriteriaIsNoStepOnTheWay) {
  write([&](Session& session) {
    add_level(session, {.rank = 5, .name = "Honorary"});
    add_level(session, {.rank = 6, .name = "Legend", .criteria = "withdrawn_total >= 1"});
  });
  withdraw(somebody, 600'000);
  add("Li Na", somebody);
  add("Wang Fang", somebody);
  EXPECT_EQ(service.check_and_upgrade(somebody).upgrade->new_level, "Legend");
}

TEST_P(UpgradeService, NeverTakesALevelAway) {
  withdraw(somebody, 120'000);
  service.check_and_upgrade(somebody);
  sql("UPDATE distributor_level SET criteria = 'withdrawn_total >= 9999' WHERE name = 'Bronze'");
  EXPECT_FALSE(service.check_and_upgrade(somebody).upgrade);
  EXPECT_EQ(level_of(somebody), "Bronze");
}

TEST_P(UpgradeService, ExplainsWithoutChangingAnything) {
  withdraw(somebody, 600'000);
  const Assessment assessment = service.assess(somebody);
  EXPECT_EQ(assessment.level.name, "Starter");
  EXPECT_EQ(assessment.reached->name, "Bronze");
  ASSERT_EQ(assessment.steps.size(), 2U);
  ASSERT_EQ(assessment.steps[1].verdict->findings.size(), 2U);
  EXPECT_TRUE(assessment.steps[1].verdict->findings[0].holds);
  EXPECT_FALSE(assessment.steps[1].verdict->findings[1].holds);
  EXPECT_EQ(level_of(somebody), "Starter");
  EXPECT_THROW((void)service.assess(404), NotFound);
}

TEST_P(UpgradeService, ExplainsWhatItDecidedBy) {
  withdraw(somebody, 600'000);
  const Assessment assessment = service.check_and_explain(somebody);
  EXPECT_EQ(assessment.level.name, "Starter");
  EXPECT_EQ(assessment.upgrade->new_level, "Bronze");
  EXPECT_EQ(level_of(somebody), "Bronze");
  EXPECT_EQ(history()[0].figures, to_json(assessment.context.figures));
  EXPECT_FALSE(service.check_and_explain(somebody).upgrade);
}

TEST_P(UpgradeService, ExplainsStepsThatCannotBeWorkedOutAndGoesOn) {
  set_criteria("Silver", "withdrawn_totel >= 1");
  withdraw(somebody, 120'000);
  const Assessment assessment = service.check_and_explain(somebody);
  EXPECT_EQ(assessment.upgrade->new_level, "Bronze");
  ASSERT_EQ(assessment.steps.size(), 2U);
  EXPECT_FALSE(assessment.steps[1].verdict);
  EXPECT_THAT(assessment.steps[1].problem, ::testing::HasSubstr("level Silver: criteria"));
  EXPECT_THAT(assessment.problem, ::testing::HasSubstr("level Silver: criteria"));
}

TEST_P(UpgradeService, WhereLevelsMayBeSkippedAStepThatFailsDoesNotHideTheOthers) {
  write([&](Session& session) {
    add_level(session, {.rank = 3, .name = "Gold", .criteria = "withdrawn_total >= 6000"});
    set_skip_levels(session, true);
  });
  set_criteria("Silver", "withdrawn_totel >= 1");
  withdraw(somebody, 600'000);
  const CheckResult result = service.check_and_upgrade(somebody);
  EXPECT_EQ(result.upgrade->new_level, "Gold");
  EXPECT_THAT(result.problem, ::testing::HasSubstr("level Silver"));
}

TEST_P(UpgradeService, ChecksEverybodyInBatches) {
  for (int i = 0; i < 25; ++i) {
    withdraw(add("Number " + std::to_string(i), somebody), i % 5 == 0 ? 100'000 : 99'999);
  }
  std::int64_t calls = 0;
  const BulkReport report = check_everybody(*database, {.batch = 10}, {},
                                            [&](const BulkReport&, const auto&) { ++calls; });
  EXPECT_EQ(report.total, 26);
  EXPECT_EQ(report.checked, 26);
  EXPECT_EQ(report.upgraded, 5);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(history().size(), 5U);
  EXPECT_EQ(check_everybody(*database, {.batch = 10}, {}, [](const auto&, const auto&) {}).upgraded,
            0);
}

TEST_P(UpgradeService, ABulkCheckMayOnlyLook) {
  withdraw(somebody, 100'000);
  const BulkReport report =
      check_everybody(*database, {.dry_run = true}, {}, [](const auto&, const auto&) {});
  EXPECT_EQ(report.upgraded, 1);
  EXPECT_EQ(level_of(somebody), "Starter");
}

TEST_P(UpgradeService, ABulkCheckGoesOnPastThoseWhoseCriteriaFail) {
  sql("UPDATE distributor_level SET criteria = 'withdrawn_total * 0.00000001 >= 0' WHERE name = "
      "'Bronze'");
  withdraw(somebody, 1);  // 0.01 × 0.00000001 has ten places
  const std::int64_t other = add("Li Na", somebody);
  const BulkReport report =
      check_everybody(*database, {.batch = 10}, {}, [](const auto&, const auto&) {});
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.upgraded, 1);
  EXPECT_THAT(report.first_failure,
              ::testing::HasSubstr("distributor 1: level Bronze: `withdrawn_total"));
  EXPECT_EQ(level_of(other), "Bronze");
}

/// The first `times` transactions that write fail.
class FaultyDatabase final : public Database {
 public:
  FaultyDatabase(Database& next, int times, StorageException::Retry retry)
      : next_{next}, times_{times}, retry_{retry} {}

  void read(const Body& body) override { next_.read(body); }
  void write(const Body& body) override {
    if (times_-- > 0) throw StorageException{"deadlock detected", retry_};
    next_.write(body);
  }
  void setup() override { next_.setup(); }

 private:
  Database& next_;
  int times_;
  const StorageException::Retry retry_;
};

TEST_P(UpgradeService, ABulkCheckTriesABatchAgainAfterPassingTrouble) {
  withdraw(somebody, 100'000);
  FaultyDatabase faulty{*database, 1, StorageException::Retry::helps};
  const BulkReport report =
      check_everybody(faulty, {.batch = 10}, {}, [](const auto&, const auto&) {});
  EXPECT_EQ(report.upgraded, 1);
  EXPECT_EQ(report.failed, 0);
}

TEST_P(UpgradeService, ABulkCheckIsNotEndedByOneWhoCannotBeUpgraded) {
  withdraw(somebody, 100'000);
  const std::int64_t other = add("Li Na", somebody);
  withdraw(other, 100'000);
  // The history has a row for this change already: as after somebody set the version back.
  sql("INSERT INTO distributor_level_upgrade_history (distributor_id, distributor_version, "
      "previous_level_id, new_level_id, criteria, figures, upgrade_time) VALUES (1, 1, 1, 2, '', "
      "'{}', '2025-01-01 00:00:00.000000')");
  const BulkReport report =
      check_everybody(*database, {.batch = 10}, {}, [](const auto&, const auto&) {});
  EXPECT_EQ(report.checked, 2);
  EXPECT_EQ(report.upgraded, 1);
  EXPECT_EQ(report.failed, 1);
  EXPECT_THAT(report.first_failure, ::testing::HasSubstr("distributor 1: "));
  EXPECT_EQ(level_of(somebody), "Starter");
  EXPECT_EQ(level_of(other), "Bronze");
}

TEST_P(UpgradeService, ABulkCheckOfALongLineOfSponsorsTakesTimeByItsLength) {
  constexpr std::int64_t kLength = 20'000;
  sql("WITH RECURSIVE line(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM line WHERE n < " +
      std::to_string(kLength) +
      ") INSERT INTO distributor (id, name, sponsor_id, level_id, joined_at, level_since) SELECT "
      "n, 'in line', n - 1, 1, joined_at, joined_at FROM line, distributor");
  set_criteria("Bronze", "team_size >= 19999");
  // By pairs this were two hundred million rows, for minutes: the test's time limit is the bound.
  const BulkReport report =
      check_everybody(*database, {.batch = 1000}, {}, [](const auto&, const auto&) {});
  EXPECT_EQ(report.checked, kLength);
  EXPECT_EQ(report.upgraded, 1);
  EXPECT_EQ(level_of(somebody), "Bronze");
}

TEST_P(UpgradeService, ABulkCheckStopsBetweenBatches) {
  for (int i = 0; i < 5; ++i) add("Number " + std::to_string(i), somebody);
  std::stop_source stop;
  const BulkReport report = check_everybody(*database, {.batch = 2}, stop.get_token(),
                                            [&](const auto&, const auto&) { stop.request_stop(); });
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.checked, 2);
}

TEST_P(UpgradeService, ACrowdHasTeamsAndWithdrawals) {
  add_crowd(*database, 50, [](std::int64_t) {});
  EXPECT_EQ(sql("SELECT count(*) FROM distributor"), "51");
  EXPECT_NE(sql("SELECT count(*) FROM withdraw_ledger WHERE status = 'completed'"), "0");
}

TEST_P(UpgradeService, ASimulationHandlesAllThatItSends) {
  LoadOptions load{.rate = 100, .duration = milliseconds{1200}, .handling = milliseconds{1}};
  load.message_class = kCheckClass;
  const LoadReport report = simulate_load(*database, *checks, *failures, load, {}, logger,
                                          [](const LoadReport&, std::int64_t) {});
  EXPECT_EQ(report.sent, 120);
  EXPECT_EQ(report.handled, report.sent);
  // A second's worth: what waits comes and goes.
  EXPECT_LE(report.most_waiting, 100);
  EXPECT_EQ(report.failed, 0);
  EXPECT_EQ(report.upgraded, static_cast<std::int64_t>(history().size()));
}

TEST_P(UpgradeService, ASimulationTellsOfChecksThatFail) {
  set_criteria("Bronze", "withdrawn_totel >= 1");
  LoadOptions load{.rate = 100, .duration = milliseconds{100}, .handling = milliseconds{1}};
  load.message_class = kCheckClass;
  const LoadReport report = simulate_load(*database, *checks, *failures, load, {}, logger,
                                          [](const LoadReport&, std::int64_t) {});
  EXPECT_EQ(report.failed, 10);
  EXPECT_EQ(report.handled, 0);
  EXPECT_THAT(report.first_failure, ::testing::HasSubstr("level Bronze"));
}

}  // namespace
}  // namespace errand::distributors
