#include "distributor_upgrade/model/sponsor_links.hpp"

#include <gtest/gtest.h>

namespace errand::distributors {
namespace {

using Link = SponsorLinks::Link;

TEST(SponsorLinks, CountsTeamsFromTheBottomUp) {
  const SponsorLinks links{{Link{1, {}}, {2, 1}, {3, 1}, {4, 2}, {5, 4}, {9, {}}}};
  EXPECT_EQ(links.team_size(1).direct, 2);
  EXPECT_EQ(links.team_size(1).whole, 4);
  EXPECT_EQ(links.team_size(2).direct, 1);
  EXPECT_EQ(links.team_size(2).whole, 2);
  EXPECT_EQ(links.team_size(5).whole, 0);
  EXPECT_EQ(links.team_size(9).whole, 0);
  EXPECT_EQ(links.team_size(404).whole, 0);
  EXPECT_TRUE(links.rings().empty());
}

TEST(SponsorLinks, SponsorsMayHaveHigherIdsAndMayBeMissing) {
  const SponsorLinks links{{Link{1, 3}, {2, 1}, {3, {}}, {4, 404}}};
  EXPECT_EQ(links.team_size(3).whole, 2);
  EXPECT_EQ(links.team_size(1).whole, 1);
  EXPECT_EQ(links.team_size(4).whole, 0);
}

TEST(SponsorLinks, InARingEverybodyIsInTheTeamOfEverybodyElse) {
  // 1 → 3 → 2 → 1, with 4 and 5 below 2; and 7 → 8 → 7 beside it.
  const SponsorLinks links{{Link{1, 3}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {7, 8}, {8, 7}}};
  for (const std::int64_t id : {1, 2, 3}) EXPECT_EQ(links.team_size(id).whole, 4) << id;
  EXPECT_EQ(links.team_size(2).direct, 2);
  EXPECT_EQ(links.team_size(1).direct, 1);
  EXPECT_EQ(links.team_size(4).whole, 1);
  EXPECT_EQ(links.team_size(7).whole, 1);
  EXPECT_EQ(links.rings(), (std::vector<std::int64_t>{1, 7}));
}

}  // namespace
}  // namespace errand::distributors
