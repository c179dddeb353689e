#include "core/utf8.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::detail {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;

TEST(Utf8, AcceptsEveryEdgeOfTheTable) {
  const std::string_view cases[] = {
      "",
      "plain",
      std::string_view{"a\0b", 3},
      "\x7F",
      "\xC2\x80",
      "\xDF\xBF",
      "\xE0\xA0\x80",
      "\xED\x9F\xBF",
      "\xEE\x80\x80",
      "\xEF\xBF\xBF",
      "\xF0\x90\x80\x80",
      "\xF4\x8F\xBF\xBF",
      "任务 – задача – 🚀",
  };
  for (const std::string_view text : cases) EXPECT_EQ(find_invalid_utf8(text), kNpos) << text;
}

TEST(Utf8, FindsTheFirstBadByte) {
  const std::pair<std::string_view, std::size_t> cases[] = {
      {"\x80", 0},                  // continuation alone
      {"ab\xBF", 2},                //
      {"\xC0\xAF", 0},              // overlong
      {"\xC1\xBF", 0},              //
      {"\xC2", 0},                  // cut short
      {"\xC2 ", 0},                 //
      {"\xE0\x9F\xBF", 0},          // overlong
      {"\xE4\xBB", 0},              // cut short
      {"\xED\xA0\x80", 0},          // surrogate
      {"\xED\xBF\xBF", 0},          //
      {"\xF0\x8F\xBF\xBF", 0},      // overlong
      {"\xF4\x90\x80\x80", 0},      // past U+10FFFF
      {"\xF5\x80\x80\x80", 0},      //
      {"\xFF", 0},                  //
      {"\xF0\x9F\x9A", 0},          // cut short
      {"\xE4\xBB\xBB\xE5\x8A", 3},  // second one cut short
  };
  for (const auto& [text, at] : cases) EXPECT_EQ(find_invalid_utf8(text), at) << text;
}

TEST(Utf8, FindsABadByteAtEveryPlaceOfLongText) {
  for (std::size_t at = 0; at < 100; ++at) {
    std::string text(100, 'x');
    EXPECT_EQ(find_invalid_utf8(text), kNpos);
    text[at] = '\xFF';
    EXPECT_EQ(find_invalid_utf8(text), at);
  }
}

TEST(Utf8, RepairsWhatIsBadAndKeepsTheRest) {
  EXPECT_EQ(repair_utf8("good 好"), "good 好");
  EXPECT_EQ(repair_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(repair_utf8("\xFF\xFE"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(repair_utf8("好\xE4\xBB"), "好\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(repair_and_cut_utf8("12345", 5), "12345");
  EXPECT_EQ(repair_and_cut_utf8("123456", 5), "12…");
  EXPECT_EQ(repair_and_cut_utf8("好好好", 9), "好好好");
  EXPECT_EQ(repair_and_cut_utf8("好好好", 8), "好…");
  EXPECT_EQ(repair_and_cut_utf8("好好好", 7), "好…");
  EXPECT_EQ(repair_and_cut_utf8("好好好", 5), "…");
  EXPECT_EQ(repair_and_cut_utf8("好好好", 2), "");
  EXPECT_EQ(repair_and_cut_utf8("", 0), "");
}

TEST(Utf8, ACutTextIsValidAndShortEnoughWhateverIsCut) {
  const std::string text = "aé好🚀\xFFz aé好🚀\xFFz";
  for (std::size_t max = 0; max < text.size() + 10; ++max) {
    const std::string cut = repair_and_cut_utf8(text, max);
    EXPECT_LE(cut.size(), max);
    EXPECT_EQ(find_invalid_utf8(cut), kNpos) << max;
    EXPECT_EQ(repair_and_cut_utf8(cut, max), cut) << max;
  }
}

TEST(Utf8, KnowsControlCharacters) {
  for (const char* text : {"\x01", "a\nb", "\x1F", "\x7F", "\xC2\x80", "x\xC2\x9F"}) {
    EXPECT_TRUE(has_control_character(text));
  }
  for (const char* text : {"", " ~", "\xC2\xA0", "é", "好", "\xE2\x80\x80"}) {
    EXPECT_FALSE(has_control_character(text)) << text;
  }
  EXPECT_TRUE(has_control_character(std::string_view{"\0", 1}));
}

}  // namespace
}  // namespace errand::detail
