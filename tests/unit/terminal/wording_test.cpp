#include "terminal/wording.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace errand::terminal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Wording, CountsHaveSeparators) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-123), "-123");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Wording, SpansHaveTwoUnitsAtMost) {
  EXPECT_EQ(format_span(milliseconds{0}), "0 ms");
  EXPECT_EQ(format_span(milliseconds{999}), "999 ms");
  EXPECT_EQ(format_span(seconds{1}), "1 s");
  EXPECT_EQ(format_span(milliseconds{3250}), "3.2 s");
  EXPECT_EQ(format_span(milliseconds{59'999}), "59 s");
  EXPECT_EQ(format_span(seconds{60}), "1 min");
  EXPECT_EQ(format_span(seconds{125}), "2 min 5 s");
  EXPECT_EQ(format_span(seconds{3 * 3600 + 4 * 60 + 59}), "3 h 4 min");
  EXPECT_EQ(format_span(seconds{2 * 86'400 + 3 * 3600}), "2 d 3 h");
  EXPECT_EQ(format_span(seconds{2 * 86'400 + 59}), "2 d");
}

TEST(Wording, ShortAgesHaveOneUnit) {
  const Timestamp now{seconds{1'000'000}};
  EXPECT_EQ(format_short_age(now - milliseconds{250}, now), "250 ms");
  EXPECT_EQ(format_short_age(now - milliseconds{3'999}, now), "3 s");
  EXPECT_EQ(format_short_age(now - seconds{125}, now), "2 min");
  EXPECT_EQ(format_short_age(now - seconds{3 * 3600}, now), "3 h");
  EXPECT_EQ(format_short_age(now - seconds{2 * 86'400}, now), "2 d");
  EXPECT_EQ(format_short_age(now + seconds{1}, now), "0 ms");
}

TEST(Wording, AgesTellPastFromFuture) {
  const Timestamp now{seconds{1'000'000}};
  EXPECT_EQ(format_age(now, now), "now");
  EXPECT_EQ(format_age(now - seconds{3}, now), "3 s ago");
  EXPECT_EQ(format_age(now + seconds{300}, now), "in 5 min");
}

}  // namespace
}  // namespace errand::terminal
