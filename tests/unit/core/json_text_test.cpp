#include "core/json_text.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/json.hpp"

namespace errand::detail {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesWhatJsonRequiresAndNothingElse) {
  EXPECT_EQ(in_quotes(""), R"("")");
  EXPECT_EQ(in_quotes("a/b 好 🚀 \x7F"), "\"a/b 好 🚀 \x7F\"");
  EXPECT_EQ(in_quotes("\"\\"), R"("\"\\")");
  EXPECT_EQ(in_quotes("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(in_quotes(std::string_view{"\0\x01\x1f", 3}), R"("\u0000\u0001\u001f")");
}

TEST(JsonText, MakesJsonOfBytesThatAreNotUtf8) {
  EXPECT_EQ(in_quotes("a\xFF\"b"), "\"a\xEF\xBF\xBD\\\"b\"");
}

TEST(JsonText, EveryByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 0x80; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(parse_json(in_quotes(all)).as_string(), all);
}

TEST(JsonText, WritesObjects) {
  std::string out = "x";
  JsonObjectText object{out};
  object.add_string("a\"", "b");
  object.add_number("n", -9'223'372'036'854'775'807 - 1);
  object.add_json("j", "[1]");
  object.close();
  EXPECT_EQ(out, R"(x{"a\"":"b","n":-9223372036854775808,"j":[1]})");
}

TEST(JsonText, WritesTheEmptyObject) {
  std::string out;
  JsonObjectText{out}.close();
  EXPECT_EQ(out, "{}");
}

}  // namespace
}  // namespace errand::detail
