#include "distributor_upgrade/criteria/criteria.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace errand::distributors {
namespace {

using ::testing::HasSubstr;

Figures figures() {
  Figures figures;
  figures.set(Figure::withdrawn_total, *Decimal::parse("6200.05"));
  figures.set(Figure::withdrawal_count, 3);
  figures.set(Figure::direct_team_size, 2);
  figures.set(Figure::indirect_team_size, 10);
  figures.set(Figure::team_size, 12);
  figures.set(Figure::active_days, 40);
  return figures;
}

bool holds(std::string_view text) {
  const Criteria criteria{text};
  const Verdict verdict = criteria.judge(figures());
  EXPECT_EQ(verdict.holds, criteria.hold(figures())) << text;
  return verdict.holds;
}

/// Position and reason, or that there was nothing wrong.
std::string complaint(std::string_view text) {
  try {
    (void)Criteria{text};
  } catch (const CriteriaException& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Criteria, CompareFiguresWithNumbers) {
  EXPECT_TRUE(holds("withdrawn_total >= 6200.05"));
  EXPECT_FALSE(holds("withdrawn_total > 6200.05"));
  EXPECT_TRUE(holds("withdrawn_total < 6200.06"));
  EXPECT_TRUE(holds("withdrawal_count = 3"));
  EXPECT_TRUE(holds("withdrawal_count == 3"));
  EXPECT_FALSE(holds("withdrawal_count != 3"));
  EXPECT_TRUE(holds("team_size <= 12"));
}

TEST(Criteria, BindAndTighterThanOrAndNotTightest) {
  EXPECT_TRUE(holds("team_size = 12 or team_size = 0 and team_size = 1"));
  EXPECT_FALSE(holds("(team_size = 12 or team_size = 0) and team_size = 1"));
  EXPECT_TRUE(holds("not team_size = 0 and team_size = 12"));
  EXPECT_FALSE(holds("not (team_size = 0 or team_size = 12)"));
  EXPECT_TRUE(holds("not not team_size = 12"));
}

TEST(Criteria, CalculateExactly) {
  EXPECT_TRUE(holds("direct_team_size + indirect_team_size = team_size"));
  EXPECT_TRUE(holds("2 + 3 * 4 = 14"));
  EXPECT_TRUE(holds("(2 + 3) * 4 = 20"));
  EXPECT_TRUE(holds("10 - 3 - 2 = 5"));
  EXPECT_TRUE(holds("-(2) + 3 = 1"));
  EXPECT_TRUE(holds("0.1 + 0.2 = 0.3"));
  EXPECT_TRUE(holds("withdrawn_total * 0.1 = 620.005"));
  EXPECT_TRUE(holds("withdrawn_total >= 500 * team_size"));
}

/// Findings as an indented list, as people see it.
std::string told(const std::string& text) {
  std::string list;
  for (const Finding& finding : Criteria{text}.judge(figures()).findings) {
    constexpr std::array<const char*, 4> kNames{"", "all of", "one of", "not"};
    list += std::string(static_cast<std::size_t>(finding.depth), '.') +
            (finding.holds ? "+" : "-") + kNames.at(static_cast<std::size_t>(finding.kind)) +
            finding.left + finding.comparison + finding.right +
            (finding.missing.empty() ? "" : " missing " + finding.missing) + "\n";
  }
  return list;
}

TEST(Criteria, TellWhyEachComparisonHoldsOrNot) {
  const Criteria criteria{"withdrawn_total >= 5000 and team_size*2 >= 50"};
  const Verdict verdict = criteria.judge(figures());
  EXPECT_FALSE(verdict.holds);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].text, "withdrawn_total >= 5000");
  EXPECT_EQ(verdict.findings[1].text, "team_size*2 >= 50");
  EXPECT_EQ(told("withdrawn_total >= 5000 and team_size*2 >= 50"),
            "+6200.05>=5000.00\n-24>=50 missing 26\n");
  EXPECT_EQ(told("withdrawn_total > 7000"), "-6200.05>7000.00 missing 799.95\n");
}

TEST(Criteria, KeepTheirStructureWhenTheyTellWhy) {
  EXPECT_EQ(told("team_size > 1 and (team_size = 5 or active_days > 30 or active_days < 2)"),
            "+12>1\n+one of\n.-12=5\n.+40>30\n.-40<2\n");
  EXPECT_EQ(told("team_size = 5 or (team_size > 1 and not (active_days > 30 or team_size = 2))"),
            "-one of\n.-12=5\n.-all of\n..+12>1\n..-not\n...+one of\n....+40>30\n....-12=2\n");
  EXPECT_EQ(told("not not team_size = 12"), "+not\n.-not\n..+12=12\n");
}

TEST(Criteria, SayWhereTheyAreWrongAndWhatWouldBeRight) {
  EXPECT_THAT(complaint("team_size >= 10 and teem_size >= 3"),
              HasSubstr("at character 21: there is no figure `teem_size`, did you mean "
                        "`team_size`?; there are withdrawn_total,"));
  EXPECT_EQ(complaint("team_size >= 10 && team_size < 3"),
            "criteria, at character 17: `&&` is written `and`");
  EXPECT_EQ(complaint("team_size => 10"), "criteria, at character 11: `=>` is written `>=`");
  EXPECT_EQ(complaint("! team_size = 1"), "criteria, at character 1: `!` is written `not`");
  EXPECT_EQ(complaint("team_size = 1 AND team_size = 2"),
            "criteria, at character 15: `AND` is written in small letters");
  EXPECT_THAT(complaint("withdrawn_total / 2 > 5"),
              HasSubstr("at character 17: there is no division"));
  EXPECT_EQ(complaint("withdrawn_total >= 5,000"),
            "criteria, at character 21: numbers are written without commas: 5000");
  EXPECT_EQ(complaint("1 < team_size < 5"),
            "criteria, at character 15: comparisons do not chain; write 10 <= team_size and "
            "team_size <= 20");
  EXPECT_EQ(complaint("team_size"),
            "criteria, at character 1: `team_size` is a number; criteria are a condition, such as "
            "withdrawn_total >= 5000");
  EXPECT_EQ(complaint("team_size >= 3 and 5"),
            "criteria, at character 20: `5` is a number; `and` joins two conditions, such as "
            "team_size >= 10");
  EXPECT_EQ(complaint("(team_size > 1) + 2 > 3"),
            "criteria, at character 1: `(team_size > 1)` is a condition; `+` calculates with "
            "numbers");
  EXPECT_EQ(complaint("team_size >="),
            "criteria, at character 13: a figure or a number is missing at the end");
  EXPECT_EQ(complaint("(team_size > 1"),
            "criteria, at character 1: nothing closes this parenthesis");
  EXPECT_EQ(complaint("team_size > 1)"),
            "criteria, at character 14: nothing opened this parenthesis");
  EXPECT_EQ(complaint("team_size > 1 team_size < 5"),
            "criteria, at character 15: `team_size` follows without `and` or `or`");
  EXPECT_EQ(complaint("  "),
            "criteria, at character 3: the criteria are empty; write for example withdrawn_total "
            ">= 5000");
  EXPECT_THAT(complaint("team_size > 1.2.3"), HasSubstr("`1.2.3` is not a number"));
  EXPECT_THAT(complaint("team_size = 'x'"), HasSubstr("at character 13: there are no texts"));
  EXPECT_THAT(complaint("团队 > 1"), HasSubstr("plain English letters"));
}

TEST(Criteria, AreBounded) {
  const std::string comparison = "team_size>1";
  EXPECT_THAT(complaint(std::string(40, '(') + comparison + std::string(40, ')')),
              HasSubstr("at character 33: it is nested deeper than 32"));
  EXPECT_THAT(complaint("team_size > " + std::string(200, '-') + "1"), HasSubstr("nested deeper"));
  EXPECT_EQ(complaint(std::string(32, '(') + comparison + std::string(32, ')')), "nothing");
  std::string many = "1=1";
  for (int i = 0; i < 60; ++i) many += " or 1=1";
  EXPECT_THAT(complaint(many), HasSubstr("there are more than 200 parts"));
  EXPECT_THAT(complaint(std::string(1001, ' ')), HasSubstr("they have 1001 bytes; 1000 are"));
}

TEST(Criteria, FailRatherThanRound) {
  const Criteria criteria{"withdrawn_total * 0.000000001 > 1 and team_size > 1"};
  EXPECT_THROW((void)criteria.hold(figures()), RuleException);
  // Also where the outcome is certain without it.
  const Criteria certain{"team_size > 1 or withdrawn_total * 0.000000001 > 1"};
  EXPECT_THROW((void)certain.judge(figures()), RuleException);
}

TEST(Figures, AreWrittenAsJsonWithMoneyAsText) {
  EXPECT_EQ(to_json(figures()),
            R"({"withdrawn_total":"6200.05","withdrawn_30_days":"0.00","withdrawal_count":3,)"
            R"("direct_team_size":2,"indirect_team_size":10,"team_size":12,"active_days":40,)"
            R"("days_at_level":0})");
}

}  // namespace
}  // namespace errand::distributors
