#include "terminal/display.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::terminal {
namespace {

TEST(Printable, LeavesOrdinaryTextOfAnyLanguageAlone) {
  for (const char* text : {"", "plain", "naïve — café", "任务失败", "задача", "🚀 go"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable(std::string_view{"\0\x7f", 2}), "\\x00\\x7f");
}

TEST(Printable, C1ControlsAreEscaped) {
  // U+009B alone begins an escape sequence on many terminals.
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
}

TEST(Printable, DirectionOverridesAreEscaped) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200f"), "a\\u202eb\\u2066c\\u200f");
}

TEST(Printable, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe4\xbd"), "a\\xe4\\xbd");                  // cut off
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST(PrintableJson, StaysTheSameJson) {
  EXPECT_EQ(printable_json("{\n\t\"a\": \"任务 \\u001b\"\r\n}"),
            "{\n\t\"a\": \"任务 \\u001b\" \n}");
}

TEST(PrintableJson, WhatCouldActOnATerminalBecomesAnEscape) {
  EXPECT_EQ(printable_json("\"\x7f\xc2\x9b\u202e\""), "\"\\u007f\\u009b\\u202e\"");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("café"), 4U);
  EXPECT_EQ(display_width("任务"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("🚀"), 2U);
}

TEST(Truncate, TextThatFitsIsLeftAlone) {
  EXPECT_EQ(truncate("abc", 3), "abc");
  EXPECT_EQ(truncate("任务", 4), "任务");
}

TEST(Truncate, TheLastColumnTellsThatSomethingIsMissing) {
  EXPECT_EQ(truncate("abcdef", 4), "abc…");
  EXPECT_EQ(truncate("abcdef", 1), "…");
  EXPECT_EQ(truncate("abcdef", 0), "");
}

TEST(Truncate, AWideCharacterIsNotCutInHalf) {
  EXPECT_EQ(truncate("任务失败", 5), "任务…");
  EXPECT_EQ(truncate("任务失败", 4), "任…");
}

}  // namespace
}  // namespace errand::terminal
