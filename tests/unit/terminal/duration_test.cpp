#include "terminal/duration.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

namespace errand::terminal {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Duration, EveryUnitIsUnderstood) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds{500});
  EXPECT_EQ(parse_duration("5s"), seconds{5});
  EXPECT_EQ(parse_duration("2m"), minutes{2});
  EXPECT_EQ(parse_duration("2min"), minutes{2});
  EXPECT_EQ(parse_duration("1h"), hours{1});
  EXPECT_EQ(parse_duration("24h"), hours{24});
  EXPECT_EQ(parse_duration("7d"), hours{7 * 24});
}

TEST(Duration, APlainNumberMeansSeconds) {
  EXPECT_EQ(parse_duration("0"), milliseconds{0});
  EXPECT_EQ(parse_duration("30"), seconds{30});
}

TEST(Duration, FractionsAreRoundedToMilliseconds) {
  EXPECT_EQ(parse_duration("1.5h"), minutes{90});
  EXPECT_EQ(parse_duration("0.25"), milliseconds{250});
  EXPECT_EQ(parse_duration("1.0006s"), milliseconds{1001});
}

TEST(Duration, AHundredYearsIsTheLongest) {
  EXPECT_EQ(parse_duration("36500d"), hours{36500 * 24});
  EXPECT_THROW((void)parse_duration("36501d"), ValidationException);
  EXPECT_THROW((void)parse_duration("1" + std::string(400, '0')), ValidationException);
}

TEST(Duration, OtherTextsAreRefused) {
  for (const char* text : {"", "s", "5 s", " 5s", "5s ", "-1", "-1s", "+5s", "5x", "5S", "1h30m",
                           "inf", "nan", "infinity", "0x10", "1e3", "1,5s", ".5s", "5ss"}) {
    EXPECT_THROW((void)parse_duration(text), ValidationException) << '"' << text << '"';
  }
}

TEST(Duration, TheErrorNamesTheTextAndTheRightForms) {
  try {
    (void)parse_duration("5\x1bx");
    FAIL();
  } catch (const ValidationException& error) {
    EXPECT_STREQ(error.what(),
                 "'5\\x1bx' is not a duration: write 500ms, 5s, 2m, 1h, 7d, or a number of "
                 "seconds");
  }
}

}  // namespace
}  // namespace errand::terminal
