#include "terminal/json_layout.hpp"

#include <gtest/gtest.h>

namespace errand::terminal {
namespace {

TEST(JsonLayout, MembersAndElementsGetALineEach) {
  EXPECT_EQ(indent_json(R"({"a":1,"b":[true,null],"c":{"d":"x"}})"),
            "{\n"
            "  \"a\": 1,\n"
            "  \"b\": [\n"
            "    true,\n"
            "    null\n"
            "  ],\n"
            "  \"c\": {\n"
            "    \"d\": \"x\"\n"
            "  }\n"
            "}");
}

TEST(JsonLayout, EmptyOnesStayTogether) {
  EXPECT_EQ(indent_json("{}"), "{}");
  EXPECT_EQ(indent_json("[ ]"), "[]");
  EXPECT_EQ(indent_json(R"({"a":{ },"b":[]})"), "{\n  \"a\": {},\n  \"b\": []\n}");
}

TEST(JsonLayout, StringsAreNotTouched) {
  EXPECT_EQ(indent_json(R"(["a , b : {c} \" ]", "\\"])"),
            "[\n  \"a , b : {c} \\\" ]\",\n  \"\\\\\"\n]");
}

TEST(JsonLayout, NumbersStayAsTheyWereWritten) {
  EXPECT_EQ(indent_json("[1.0,1e400,12345678901234567890123]"),
            "[\n  1.0,\n  1e400,\n  12345678901234567890123\n]");
}

TEST(JsonLayout, EarlierLayoutIsReplaced) {
  EXPECT_EQ(indent_json("{\r\n\t\"a\" :\n 1 }"), "{\n  \"a\": 1\n}");
}

TEST(JsonLayout, OneLineIsAllThereIsWithoutWhiteSpaceBetweenTheParts) {
  EXPECT_EQ(compact_json("{\r\n\t\"a b\" :\n [1.0, 1e400 , \"x \\\" \\n\" ] }\n"),
            "{\"a b\":[1.0,1e400,\"x \\\" \\n\"]}");
  EXPECT_EQ(compact_json("\"open \n"), "\"open \n");
  EXPECT_EQ(compact_json(""), "");
}

TEST(JsonLayout, TextThatIsNotJsonComesOutAllTheSame) {
  EXPECT_EQ(indent_json("]}\"open"), "]}\"open");
  EXPECT_EQ(indent_json(""), "");
}

}  // namespace
}  // namespace errand::terminal
