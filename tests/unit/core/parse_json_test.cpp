#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

#include "errand/errors.hpp"
#include "errand/json.hpp"

namespace errand {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  try {
    static_cast<void>(parse_json(text, limits));
  } catch (const ValidationException& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseJson, ReadsEveryKind) {
  const boost::json::value value = parse_json(
      R"( {"null":null,"yes":true,"no":false,"int":-7,"big":18446744073709551615,
           "half":0.5,"text":"a\u0000\n\ud83d\ude80好","list":[1,[]],"object":{}} )");
  EXPECT_TRUE(value.at("null").is_null());
  EXPECT_TRUE(value.at("yes").as_bool());
  EXPECT_FALSE(value.at("no").as_bool());
  EXPECT_EQ(value.at("int").as_int64(), -7);
  EXPECT_EQ(value.at("big").as_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(value.at("half").as_double(), 0.5);
  EXPECT_EQ(value.at("text").as_string(), (std::string_view{"a\0\n🚀好", 10}));
  EXPECT_EQ(value.at("list").as_array().size(), 2U);
  EXPECT_TRUE(value.at("object").as_object().empty());
}

TEST(ParseJson, ReadsScalarsAsDocuments) {
  EXPECT_EQ(parse_json("42").as_int64(), 42);
  EXPECT_EQ(parse_json("-0.25").as_double(), -0.25);
  EXPECT_EQ(parse_json("\"x\"").as_string(), "x");
  EXPECT_TRUE(parse_json(" null\n").is_null());
}

TEST(ParseJson, KeepsEveryBitOfADouble) {
  std::mt19937_64 random{9};  // NOLINT(cert-msc51-cpp): the same numbers in every run
  for (int i = 0; i < 50'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    char text[64];
    // Scientific, as text without a point or an exponent would be an integer.
    const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
    const boost::json::value value = parse_json({text, static_cast<std::size_t>(end.ptr - text)});
    ASSERT_EQ(std::bit_cast<std::uint64_t>(value.as_double()), std::bit_cast<std::uint64_t>(number))
        << std::string_view(text, static_cast<std::size_t>(end.ptr - text));
  }
}

TEST(ParseJson, KeepsTheSignOfADoubleInsideOtherThings) {
  const boost::json::value value = parse_json(R"({"a":[-1.5,2.5e-3,-0.0]})");
  const boost::json::array& list = value.at("a").as_array();
  EXPECT_EQ(list[0].as_double(), -1.5);
  EXPECT_EQ(list[1].as_double(), 2.5e-3);
  EXPECT_TRUE(std::signbit(list[2].as_double()));
}

TEST(ParseJson, RefusesNumbersTooBigForADouble) {
  const std::pair<std::string, const char*> cases[] = {
      {"1e400", "number out of range at byte 0: a double cannot hold 1e400"},
      {"-1e400", "number out of range at byte 0: a double cannot hold -1e400"},
      {"1.0e999999999", "number out of range at byte 0: a double cannot hold 1.0e999999999"},
      {"[7, 1e309]", "number out of range at byte 4: a double cannot hold 1e309"},
      {R"({"a":1E+99999999999,"b":2})", "at byte 5: a double cannot hold 1E+99999999999"},
      {std::string(400, '9'), "number out of range at byte 0: a double cannot hold 99999"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(ParseJson, NumbersTooSmallForADoubleAreZero) {
  EXPECT_EQ(parse_json("1e-400").as_double(), 0.0);
  EXPECT_EQ(parse_json("1.5e-999").as_double(), 0.0);
}

TEST(ParseJson, ReadsIntegersBeyond64BitsAsDoubles) {
  EXPECT_EQ(parse_json("18446744073709551616").as_double(), 18446744073709551616.0);
  EXPECT_EQ(parse_json("-9223372036854775808").as_int64(),
            std::numeric_limits<std::int64_t>::min());
}

TEST(ParseJson, SaysWhereAndWhy) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"", "not JSON: the text is empty"},
      {"[1,2,,3]", "byte 5: unexpected text: ,3]"},
      {"{\"a\":tru}", "byte 5: unexpected text: tru}"},
      {"[1,", "byte 3: the text ends too early"},
      {"{\"a\"", "byte 4: the text ends too early"},
      {"\"a\nb\"", "byte 2: a control character that is not escaped"},
      {"\"ab\xFF\"", "byte 3: a byte that is not UTF-8"},
      {"[1] x", "byte 4: more text behind the document"},
      {"{} {}", "byte 3: more text behind the document"},
      {"1 2", "byte 2: more text behind the document"},
      {"01", "byte 1: more text behind the document"},
      {"NaN", "byte 0: unexpected text: NaN"},
      {"{'a':1}", "byte 1: unexpected text: 'a':1}"},
      {"// no\n1", "byte 0: unexpected text"},
      {"[1,]", "byte 3: unexpected text: ]"},
      {"\xEF\xBB\xBF{}", "byte 0: unexpected text"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(ParseJson, RefusesLoneSurrogates) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800x")"}) {
    EXPECT_THAT(error_of(text), HasSubstr("not JSON")) << text;
  }
}

TEST(ParseJson, TheErrorDoesNotRepeatTheDocument) {
  EXPECT_LT(error_of("[" + std::string(100'000, 'x')).size(), 100U);
}

TEST(ParseJson, TakesAsManyLevelsAsAllowedAndNoMore) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(error_of(nested(64)), "no error");
  EXPECT_EQ(error_of(nested(65)), "nested deeper than 64 levels at byte 64");
  EXPECT_EQ(error_of(nested(3), {.max_depth = 3}), "no error");
  EXPECT_THAT(error_of(nested(4), {.max_depth = 3}), HasSubstr("deeper than 3"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("deeper than 64"));
}

TEST(ParseJson, TakesAsManyBytesAsAllowedAndNoMore) {
  EXPECT_EQ(error_of("[1234]", {.max_bytes = 6}), "no error");
  EXPECT_THAT(error_of("[12345]", {.max_bytes = 6}), HasSubstr("7 bytes; at most 6"));
}

TEST(ParseJson, TheLastOfMembersWithOneNameCounts) {
  EXPECT_EQ(parse_json(R"({"a":1,"a":2})").at("a").as_int64(), 2);
}

}  // namespace
}  // namespace errand
