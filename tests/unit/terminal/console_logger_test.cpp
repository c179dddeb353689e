#include "terminal/console_logger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"

namespace errand::terminal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using Level = Logger::Level;

TEST(ParseLogLevel, KnowsTheFourLevels) {
  EXPECT_EQ(parse_log_level("debug"), Level::debug);
  EXPECT_EQ(parse_log_level("info"), Level::info);
  EXPECT_EQ(parse_log_level("warning"), Level::warning);
  EXPECT_EQ(parse_log_level("error"), Level::error);
}

TEST(ParseLogLevel, NamesTheLevelsThereAreWhenItRefusesOne) {
  for (const char* name : {"loud", "", "Info"}) {
    try {
      static_cast<void>(parse_log_level(name));
      FAIL() << name << " must be refused";
    } catch (const ConfigurationException& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr(name), HasSubstr("debug, info, warning and error")));
    }
  }
}

std::string written(Level least, Level level, std::string_view text) {
  ::testing::internal::CaptureStderr();
  {
    ConsoleLogger logger{least};
    logger.write(level, text);
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(ConsoleLogger, WritesTimeLevelAndTextToStandardError) {
  EXPECT_THAT(
      written(Level::info, Level::warning, "disk nearly full"),
      MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z warning disk nearly "
                   "full\n"));
}

TEST(ConsoleLogger, LeavesOutWhatIsBelowItsLevel) {
  EXPECT_EQ(written(Level::warning, Level::info, "chatter"), "");
  const ConsoleLogger logger{Level::warning};
  EXPECT_FALSE(logger.enabled(Level::info));
  EXPECT_TRUE(logger.enabled(Level::warning));
  EXPECT_TRUE(logger.enabled(Level::error));
}

TEST(ConsoleLogger, OfALongLineBeginningAndEndAreWritten) {
  const std::string line =
      written(Level::info, Level::info, "begin " + std::string(1'000, 'x') + " end");
  EXPECT_THAT(line, AllOf(HasSubstr("begin xxx"), HasSubstr("x…x"), HasSubstr("xxx end\n")));
  EXPECT_LT(line.size(), 330U);
  std::string wide = "begin ";
  for (int i = 0; i < 500; ++i) wide += "任";
  EXPECT_THAT(written(Level::info, Level::info, wide + "x"), Not(HasSubstr("\\x")));
}

TEST(ConsoleLogger, WritesNothingThatATerminalWouldObey) {
  EXPECT_THAT(written(Level::info, Level::info, "a\x1b[31mb\nc"),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\nc"))));
}

}  // namespace
}  // namespace errand::terminal
