#include <gmock/gmock.h>

#include "errand/errors.hpp"

#include "distributor_upgrade/criteria/criteria.hpp"
#include "distributor_upgrade/distributors_fixture.hpp"
#include "distributor_upgrade/model/not_found.hpp"
#include "distributor_upgrade/model/sample_data.hpp"

namespace errand::distributors {
namespace {

class DistributorModel : public DistributorsTest {};
INSTANTIATE_TEST_SUITE_P(Distributors, DistributorModel,
                         ::testing::Values(Kind::sqlite, Kind::postgres), kind_name);

TEST_P(DistributorModel, SetupAgainChangesNothing) {
  database->setup();
  EXPECT_EQ(level_of(somebody), "Starter");
}

TEST_P(DistributorModel, LevelsAreSortedByRankAndHaveOneNameEach) {
  write([&](Session& session) {
    EXPECT_THROW(add_level(session, {.rank = 9, .name = "Bronze"}), NotPossible);
    EXPECT_THROW(add_level(session, {.rank = 1, .name = "Copper"}), NotPossible);
    EXPECT_THROW(add_level(session, {.rank = 9, .name = "  "}), ValidationException);
    EXPECT_THROW(add_level(session, {.rank = 9, .name = "Gold", .criteria = "team >= 1"}),
                 CriteriaException);
    const auto levels = all_levels(session);
    ASSERT_EQ(levels.size(), 3U);
    EXPECT_EQ(levels[2].name, "Silver");
  });
}

TEST_P(DistributorModel, CriteriaMayBeCorrected) {
  write([&](Session& session) {
    errand::distributors::set_criteria(session, "Bronze", "withdrawn_total >= 5");
    EXPECT_EQ(get_level(session, "Bronze").criteria, "withdrawn_total >= 5");
    errand::distributors::set_criteria(session, "Bronze", std::nullopt);
    EXPECT_EQ(get_level(session, "Bronze").criteria, std::nullopt);
    EXPECT_THROW(errand::distributors::set_criteria(session, "Bronze", "team >= 1"),
                 CriteriaException);
    EXPECT_THROW(errand::distributors::set_criteria(session, "Diamond", "team_size >= 1"),
                 NotFound);
  });
}

TEST_P(DistributorModel, OnlyALevelThatNobodyHadMayBeRemoved) {
  service.give_level(somebody, "Bronze");
  service.give_level(somebody, "Starter");
  write([&](Session& session) {
    EXPECT_THROW(remove_level(session, "Starter"), NotPossible);
    EXPECT_THROW(remove_level(session, "Bronze"), NotPossible);
    EXPECT_THROW(remove_level(session, "Diamond"), NotFound);
    remove_level(session, "Silver");
    EXPECT_EQ(all_levels(session).size(), 2U);
  });
}

TEST_P(DistributorModel, ListsOfNobodyAreRefused) {
  database->read([&](Session& session) {
    EXPECT_THROW((void)list_withdrawals(session, 404, 10), NotFound);
    EXPECT_THROW((void)list_upgrades(session, 404, 10), NotFound);
  });
}

TEST_P(DistributorModel, DistributorsAreListedById) {
  const std::int64_t other = add("Li Na", somebody);
  database->read([&](Session& session) {
    EXPECT_EQ(list_distributors(session, 0, 10).size(), 2U);
    EXPECT_EQ(list_distributors(session, 0, 1).at(0).id, somebody);
    EXPECT_EQ(list_distributors(session, somebody, 10).at(0).id, other);
  });
}

TEST_P(DistributorModel, NamesMayBeInAnyScript) {
  write([&](Session& session) {
    const std::int64_t id = add_distributor(session, "赵丽 'O\"", somebody);
    EXPECT_EQ(get_distributor(session, id).name, "赵丽 'O\"");
    EXPECT_THROW(add_distributor(session, "a\nb", somebody), ValidationException);
    EXPECT_THROW(add_distributor(session, "Li Na", 404), NotFound);
  });
}

TEST_P(DistributorModel, AWithdrawalGoesFromPendingOverProcessingToItsEnd) {
  const std::int64_t id = pending(1);
  write([&](Session& session) {
    EXPECT_EQ(move_withdrawal(session, id, WithdrawalStatus::processing).status,
              WithdrawalStatus::processing);
    EXPECT_THROW(move_withdrawal(session, id, WithdrawalStatus::processing), NotPossible);
    const Withdrawal completed = move_withdrawal(session, id, WithdrawalStatus::completed);
    EXPECT_EQ(completed.completed_at, clock.now());
    EXPECT_THROW(move_withdrawal(session, id, WithdrawalStatus::failed), NotPossible);
    EXPECT_THROW(move_withdrawal(session, 404, WithdrawalStatus::failed), NotFound);
    EXPECT_THROW(create_withdrawal(session, 404, 1), NotFound);
  });
}

TEST_P(DistributorModel, AFailedWithdrawalSendsNothing) {
  const std::int64_t id = pending(120'000);
  write([&](Session& session) { move_withdrawal(session, id, WithdrawalStatus::failed); });
  EXPECT_TRUE(checks->list(10, 0).empty());
}

TEST_P(DistributorModel, ATreeShowsEachAfterTheSponsor) {
  write([&](Session& session) {
    const std::int64_t a = add_distributor(session, "a", somebody);
    add_distributor(session, "b", somebody);
    add_distributor(session, "c", a);
    std::string names;
    for (const TeamMember& member : team_of(session, somebody, 5, 100)) {
      names += std::to_string(member.depth) + member.distributor.name + " ";
    }
    EXPECT_EQ(names, "0Chen Wei 1a 2c 1b ");
    EXPECT_EQ(team_of(session, std::nullopt, 1, 100).size(), 3U);
    EXPECT_EQ(team_of(session, std::nullopt, 5, 2).size(), 2U);
  });
}

TEST_P(DistributorModel, ATreeShowsEverybodyInARingOnce) {
  const std::int64_t a = add("a", somebody);
  add("c", add("b", a));
  sql("UPDATE distributor SET sponsor_id = " + std::to_string(a) +
      " WHERE id = " + std::to_string(somebody));
  const auto names = [&](std::optional<std::int64_t> from, std::size_t limit) {
    std::string text;
    database->read([&](Session& session) {
      for (const TeamMember& member : team_of(session, from, 5, limit)) {
        text += std::to_string(member.depth) + member.distributor.name + " ";
      }
    });
    return text;
  };
  EXPECT_EQ(names(somebody, 100), "0Chen Wei 1a 2b 3c ");
  EXPECT_EQ(names(a, 100), "0a 1Chen Wei 1b 2c ");
  EXPECT_EQ(names(std::nullopt, 100), "0Chen Wei 1a 2b 3c ");
  EXPECT_EQ(names(somebody, 3), "0Chen Wei 1a 2b ");
}

TEST_P(DistributorModel, SampleDataIsForAnEmptyDatabase) {
  EXPECT_THROW(add_readable_sample(*database), NotPossible);
}

/// What require_tables() says.
std::string refusal(Database& database) {
  try {
    require_tables(database);
  } catch (const StorageException& error) {
    return error.what();
  }
  return "";
}

TEST_P(DistributorModel, ADatabaseWithoutTablesNamesSetup) {
  EXPECT_EQ(refusal(*database), "");
  sql("DROP TABLE distributor_rules");
  EXPECT_THAT(refusal(*database), ::testing::HasSubstr("errand-distributors setup"));
}

TEST_P(DistributorModel, TablesOfAnotherVersionAreRefused) {
  sql("UPDATE distributor_rules SET version = 2");
  EXPECT_THAT(refusal(*database),
              ::testing::HasSubstr("are of version 2, and this program knows version 1"));
}

TEST_P(DistributorModel, OtherTroubleWithTheTablesIsNotCalledMissingTables) {
  sql("ALTER TABLE distributor_rules RENAME COLUMN version TO edition");
  EXPECT_THAT(refusal(*database), ::testing::HasSubstr("version"));
  EXPECT_THAT(refusal(*database), ::testing::Not(::testing::HasSubstr("setup")));
}

}  // namespace
}  // namespace errand::distributors
