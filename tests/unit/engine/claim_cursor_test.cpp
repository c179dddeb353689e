#include "engine/postgres/claim_cursor.hpp"

#include <gtest/gtest.h>

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;

constexpr ClaimCursor::Scan kQuick{.took = milliseconds{2}, .of_many = false};
constexpr ClaimCursor::Scan kSlow{.took = milliseconds{25}, .of_many = false};
constexpr ClaimCursor::Scan kOfMany{.took = milliseconds{2}, .of_many = true};

Place place(std::int64_t seq) { return {.priority = 0, .available_at = Timestamp{}, .seq = seq}; }

class ClaimCursorTest : public ::testing::Test {
 protected:
  std::int64_t start_after(milliseconds later) {
    const auto start = cursor.start(now + later);
    return start ? start->seq : -1;
  }

  ClaimCursor cursor;
  ClaimCursor::Time now{std::chrono::hours{1}};
};

TEST_F(ClaimCursorTest, QuickClaimsBeginAtTheBeginning) {
  EXPECT_EQ(start_after(milliseconds{0}), -1);
  for (int i = 0; i < 10; ++i) cursor.scanned(kQuick, now, place(i));
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

TEST_F(ClaimCursorTest, OneSlowClaimIsAHiccup) {
  cursor.scanned(kSlow, now, place(1));
  cursor.scanned(kQuick, now, place(2));
  cursor.scanned(kSlow, now, place(3));
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

TEST_F(ClaimCursorTest, AfterTwoSlowClaimsTheNextOnesBeginWhereTheLastOneEnded) {
  cursor.scanned(kSlow, now, place(1));
  cursor.scanned(kSlow, now, place(2));
  EXPECT_EQ(start_after(milliseconds{0}), 2);
  cursor.advanced(place(7));
  EXPECT_EQ(start_after(milliseconds{999}), 7);
}

TEST_F(ClaimCursorTest, OnceASecondAClaimBeginsAtTheBeginning) {
  cursor.scanned(kSlow, now, place(1));
  cursor.scanned(kSlow, now, place(2));
  EXPECT_EQ(start_after(milliseconds{1000}), -1);
  now += milliseconds{1000};
  cursor.scanned(kSlow, now, place(3));
  EXPECT_EQ(start_after(milliseconds{1}), 3) << "still slow: the next second, too";
  now += milliseconds{1000};
  cursor.scanned(kQuick, now, place(4));
  EXPECT_EQ(start_after(milliseconds{1}), -1) << "the dead entries are gone";
}

TEST_F(ClaimCursorTest, AScanThatFoundNothingKeepsThePlace) {
  cursor.scanned(kSlow, now, place(1));
  cursor.scanned(kSlow, now, std::nullopt);
  EXPECT_EQ(start_after(milliseconds{0}), 1);
}

TEST_F(ClaimCursorTest, AfterAClaimOfManyTheNextOnesBeginWhereItEndedForAMoment) {
  cursor.scanned(kOfMany, now, place(1000));
  EXPECT_EQ(start_after(milliseconds{0}), 1000);
  cursor.advanced(place(2000));
  EXPECT_EQ(start_after(milliseconds{99}), 2000);
  EXPECT_EQ(start_after(milliseconds{100}), -1);
}

TEST_F(ClaimCursorTest, WithoutAPlaceThereIsNowhereElseToBegin) {
  cursor.scanned(kSlow, now, std::nullopt);
  cursor.scanned(kSlow, now, std::nullopt);
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

}  // namespace
}  // namespace errand::postgres
