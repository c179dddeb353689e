#include "engine/postgres/claim_cursor.hpp"

#include <gtest/gtest.h>

namespace errand::postgres {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuick{2};
constexpr milliseconds kSlow{25};

Place place(std::int64_t seq) { return {.priority = 0, .available_at = Timestamp{}, .seq = seq}; }

class ClaimCursorTest : public ::testing::Test {
 protected:
  std::int64_t start_after(milliseconds later) {
    const auto start = cursor.start(now + later);
    return start ? start->seq : -1;
  }

  /// One task.
  void scan(milliseconds took, Place found) {
    cursor.scanned({.took = took, .claimed = 1, .first = found, .last = found}, now);
  }
  void scan_in_vain() { cursor.scanned({.took = {}, .claimed = 0, .first = {}, .last = {}}, now); }
  /// All from the one number to the other.
  void scan_many(std::int64_t first, std::int64_t last, milliseconds took = kQuick) {
    cursor.scanned({.took = took,
                    .claimed = static_cast<std::size_t>(last - first + 1),
                    .first = place(first),
                    .last = place(last)},
                   now);
  }

  ClaimCursor cursor;
  ClaimCursor::Time now{std::chrono::hours{1}};
};

TEST_F(ClaimCursorTest, QuickClaimsBeginAtTheBeginning) {
  EXPECT_EQ(start_after(milliseconds{0}), -1);
  for (int i = 0; i < 10; ++i) scan(kQuick, place(i));
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

TEST_F(ClaimCursorTest, OneSlowClaimIsAHiccup) {
  scan(kSlow, place(1));
  scan(kQuick, place(2));
  scan(kSlow, place(3));
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

TEST_F(ClaimCursorTest, AfterTwoSlowClaimsTheNextOnesBeginWhereTheLastOneEnded) {
  scan(kSlow, place(1));
  scan(kSlow, place(2));
  EXPECT_EQ(start_after(milliseconds{0}), 2);
  cursor.advanced(place(7));
  EXPECT_EQ(start_after(milliseconds{999}), 7);
}

TEST_F(ClaimCursorTest, OnceASecondAClaimBeginsAtTheBeginning) {
  scan(kSlow, place(1));
  scan(kSlow, place(2));
  EXPECT_EQ(start_after(milliseconds{1000}), -1);
  now += milliseconds{1000};
  scan(kSlow, place(3));
  EXPECT_EQ(start_after(milliseconds{1}), 3) << "still slow: the next second, too";
  now += milliseconds{1000};
  scan(kQuick, place(4));
  EXPECT_EQ(start_after(milliseconds{1}), -1) << "the dead entries are gone";
}

TEST_F(ClaimCursorTest, AScanInVainSaysNothing) {
  scan(kSlow, place(1));
  scan_in_vain();
  scan(kSlow, place(2));
  EXPECT_EQ(start_after(milliseconds{0}), 2);
  scan_in_vain();
  EXPECT_EQ(start_after(milliseconds{0}), 2);
}

TEST_F(ClaimCursorTest, AfterAClaimOfManyTheNextOnesBeginWhereItEndedForAMoment) {
  scan_many(1, 1000);
  EXPECT_EQ(start_after(milliseconds{0}), -1) << "perhaps others claim, too";
  scan_many(1001, 2000);
  EXPECT_EQ(start_after(milliseconds{0}), 2000);
  cursor.advanced(place(3000));
  EXPECT_EQ(start_after(milliseconds{99}), 3000);
  EXPECT_EQ(start_after(milliseconds{100}), -1);
}

TEST_F(ClaimCursorTest, TheMomentIsLongerWhereTheBeginningTakesLonger) {
  scan_many(1, 1000);
  scan_many(1001, 2000, milliseconds{8});
  EXPECT_EQ(start_after(milliseconds{399}), 2000);
  EXPECT_EQ(start_after(milliseconds{400}), -1);
}

TEST_F(ClaimCursorTest, ButNotLongerThanASecond) {
  scan_many(1, 1000);
  scan_many(1001, 2000, milliseconds{200});
  EXPECT_EQ(start_after(milliseconds{999}), 2000);
  EXPECT_EQ(start_after(milliseconds{1000}), -1);
}

TEST_F(ClaimCursorTest, SomebodyElsesClaimFromTheBeginningCountsAsOnesOwn) {
  EXPECT_FALSE(cursor.start_if_scanned()) << "there was no claim of many";
  scan_many(1, 1000);
  scan_many(1001, 2000);
  EXPECT_EQ(cursor.until_scan(now + milliseconds{30}), milliseconds{70});
  cursor.scan_is_due(now + milliseconds{170});
  EXPECT_EQ(start_after(milliseconds{169}), 2000);
  EXPECT_EQ(start_after(milliseconds{170}), -1);
  EXPECT_EQ(cursor.start_if_scanned()->seq, 2000) << "whoever asks says so";
}

TEST_F(ClaimCursorTest, WhereOthersClaimMeanwhileEachClaimBeginsAtTheBeginning) {
  for (std::int64_t first = 1; first < 50'000; first += 8000) {
    scan_many(first, first + 999);
    EXPECT_EQ(start_after(milliseconds{0}), -1);
  }
}

TEST_F(ClaimCursorTest, WhereAllGoOnFromTheSamePlaceTheNextOneIsDueForAll) {
  const auto scan_for_all = [&](milliseconds next_scan) {
    cursor.scanned({.took = kQuick,
                    .claimed = 1000,
                    .first = place(8001),
                    .last = place(9000),
                    .next_scan = next_scan},
                   now);
  };
  scan_for_all(milliseconds{300});
  EXPECT_EQ(start_after(milliseconds{299}), 9000);
  EXPECT_EQ(start_after(milliseconds{300}), -1);
  scan_for_all(milliseconds{0});
  EXPECT_EQ(start_after(milliseconds{0}), -1);
  EXPECT_FALSE(cursor.start_if_scanned()) << "it is due at once: nobody need be asked";
}

TEST_F(ClaimCursorTest, WithoutAPlaceThereIsNowhereElseToBegin) {
  scan_in_vain();
  scan_in_vain();
  EXPECT_EQ(start_after(milliseconds{0}), -1);
}

}  // namespace
}  // namespace errand::postgres
