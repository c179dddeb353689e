#include "errand/logger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace errand {
namespace {

class RecordingLogger final : public Logger {
 public:
  void write(Level level, std::string_view text) noexcept override {
    lines.emplace_back(level, text);
  }
  std::vector<std::pair<Level, std::string>> lines;
};

TEST(Logger, HasAVerbForEachLevel) {
  RecordingLogger logger;
  logger.debug("d");
  logger.info("i");
  logger.warning("w");
  logger.error("e");
  EXPECT_THAT(logger.lines, ::testing::ElementsAre(std::pair{Logger::Level::debug, "d"},
                                                   std::pair{Logger::Level::info, "i"},
                                                   std::pair{Logger::Level::warning, "w"},
                                                   std::pair{Logger::Level::error, "e"}));
}

TEST(SilentLogger, IsOneForAll) { EXPECT_EQ(&silent_logger(), &silent_logger()); }

}  // namespace
}  // namespace errand
