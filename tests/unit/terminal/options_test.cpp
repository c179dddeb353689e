#include "terminal/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "errand/errors.hpp"

namespace errand::terminal {
namespace {

using ::testing::HasSubstr;

/// What refuses the arguments says; empty: nothing does.
std::string refusal(CLI::App& app, std::vector<std::string> arguments) {
  try {
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    app.parse(std::move(arguments));
    return {};
  } catch (const CLI::ParseError& error) {
    return error.what();
  } catch (const ConfigurationException& error) {
    return error.what();
  }
}

TEST(Options, AWordThatIsNotOfferedIsRefusedWithThoseThatAre) {
  CLI::App app;
  std::string level;
  add_text(app, "--level", level, "LEVEL", "").one_of({"debug", "info", "error"});
  EXPECT_EQ(refusal(app, {"--level", "info"}), "");
  EXPECT_EQ(level, "info");
  EXPECT_EQ(refusal(app, {"--level", "loud"}),
            "--level: 'loud' is neither debug nor info nor error");
}

TEST(Options, ANumberOutsideItsRangeIsRefusedWithTheRange) {
  CLI::App app;
  std::int64_t count = 0;
  std::optional<std::int64_t> id;
  add_number(app, "-c,--count", count, 1, 10, "");
  add_number(app, "ID", id, 1, kNoHighest, "");
  EXPECT_EQ(refusal(app, {"--count", "11"}), "--count: '11' is not a whole number of 1 to 10");
  EXPECT_EQ(refusal(app, {"0"}), "ID: '0' is not a whole number from 1 on");
  EXPECT_EQ(refusal(app, {"9223372036854775808"}),
            "ID: '9223372036854775808' is not a whole number from 1 on");
  EXPECT_EQ(refusal(app, {"9223372036854775807"}), "");
  EXPECT_EQ(id, kNoHighest);
}

TEST(Options, WhatIsLeftOutStaysEmpty) {
  CLI::App app;
  std::optional<std::int64_t> number;
  std::optional<std::string> text;
  add_number(app, "--number", number, 1, 10, "");
  add_text(app, "--text", text, "TEXT", "");
  EXPECT_EQ(refusal(app, {}), "");
  EXPECT_EQ(number, std::nullopt);
  EXPECT_EQ(text, std::nullopt);
  EXPECT_EQ(refusal(app, {"--number", "3", "--text", ""}), "");
  EXPECT_EQ(number, 3);
  EXPECT_EQ(text, "");
}

TEST(Options, AnEmptyValueIsRefusedWhereItCanOnlyBeAMistake) {
  CLI::App app;
  std::string dsn;
  add_text(app, "--dsn", dsn, "DSN", "").not_empty();
  EXPECT_THAT(refusal(app, {"--dsn", ""}), HasSubstr("--dsn: it is empty"));
}

}  // namespace
}  // namespace errand::terminal
