#include "terminal/nearest.hpp"

#include <array>
#include <gtest/gtest.h>

namespace errand::terminal {
namespace {

const std::array<std::string, 6> kWords{"submit", "status", "stats", "setup", "wait", "worker"};

TEST(Nearest, FindsTheWordOneSlipAway) {
  EXPECT_EQ(nearest("submt", kWords), "submit");
  EXPECT_EQ(nearest("submitt", kWords), "submit");
  EXPECT_EQ(nearest("sabmit", kWords), "submit");
  EXPECT_EQ(nearest("wati", kWords), "wait");
}

TEST(Nearest, LettersSwappedAreOneSlip) { EXPECT_EQ(nearest("stauts", kWords), "status"); }

TEST(Nearest, TheNearerOfTwoWins) { EXPECT_EQ(nearest("statsu", kWords), "status"); }

TEST(Nearest, AnotherWordIsNotGuessed) {
  EXPECT_EQ(nearest("deploy", kWords), std::nullopt);
  EXPECT_EQ(nearest("", kWords), std::nullopt);
  EXPECT_EQ(nearest("xy", kWords), std::nullopt);
  EXPECT_EQ(nearest("stamps", kWords), std::nullopt);
  EXPECT_EQ(nearest("set", kWords), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 's'), kWords), std::nullopt);
}

TEST(Nearest, NoWordsGiveNoGuess) { EXPECT_EQ(nearest("submit", {}), std::nullopt); }

}  // namespace
}  // namespace errand::terminal
