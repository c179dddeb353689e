#include "errand/exception_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "errand/json.hpp"

namespace errand {
namespace {

ExceptionData runtime_exception() {
  ExceptionData data;
  data.class_name = "RuntimeException";
  data.message = "Task execution failed";
  data.code = 500;
  data.file = "/path/to/Handler.php";
  data.line = 42;
  data.trace = "#0 /path/to/file.php(10): ...";
  return data;
}

/// The outermost says "level 0".
ExceptionData chain(int levels) {
  ExceptionData data;
  for (int level = levels - 1; level >= 0; --level) {
    ExceptionData outer;
    outer.class_name = "Level";
    outer.message = "level " + std::to_string(level);
    if (level < levels - 1) outer.previous = std::make_shared<const ExceptionData>(data);
    data = outer;
  }
  return data;
}

int length(const ExceptionData& data) {
  int levels = 1;
  for (const ExceptionData* level = data.previous.get(); level != nullptr;
       level = level->previous.get()) {
    ++levels;
  }
  return levels;
}

constexpr const char* kDocumented =
    R"({"class":"RuntimeException","message":"Task execution failed","code":500,)"
    R"("file":"/path/to/Handler.php","line":42,"trace":"#0 /path/to/file.php(10): ...",)"
    R"("previous":null})";

TEST(ExceptionData, HasTheDocumentedJson) {
  EXPECT_EQ(to_json(runtime_exception()), kDocumented);
  EXPECT_EQ(parse_exception_data(kDocumented), runtime_exception());
}

TEST(ExceptionData, KeepsWhatItWasNestedIn) {
  ExceptionData outer = runtime_exception();
  outer.previous = std::make_shared<const ExceptionData>(chain(3));
  const ExceptionData back = parse_exception_data(to_json(outer));
  EXPECT_EQ(back, outer);
  EXPECT_EQ(back.previous->previous->previous->message, "level 2");
  EXPECT_EQ(length(back), 4);
}

TEST(ExceptionData, ChainsAreCutInBothDirections) {
  const ExceptionData longest = chain(kMaxPreviousExceptions + 1);
  EXPECT_EQ(parse_exception_data(to_json(longest)), longest);
  EXPECT_EQ(length(parse_exception_data(to_json(chain(40)))), kMaxPreviousExceptions + 1);

  std::string deep;
  for (int i = 0; i < 30; ++i) deep += R"({"class":"X","previous":)";
  deep += "null" + std::string(30, '}');
  EXPECT_EQ(length(parse_exception_data(deep)), kMaxPreviousExceptions + 1);
}

TEST(ExceptionData, TextNestedWithoutEndIsReadAsText) {
  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += R"({"class":"X","previous":)";
  const ExceptionData data = parse_exception_data(endless);
  EXPECT_EQ(data.class_name, "unknown");
  EXPECT_LE(data.message.size(), 64U * 1024);
}

TEST(ExceptionData, MissingMembersTakeTheirDefaults) {
  ExceptionData expected;
  expected.class_name = "unknown";
  expected.message = "API timeout";
  EXPECT_EQ(parse_exception_data(R"({"message":"API timeout"})"), expected);

  expected.class_name = "PDOException";
  expected.message = "";
  EXPECT_EQ(parse_exception_data(R"({"class":"PDOException"})"), expected);
}

TEST(ExceptionData, MembersOfAnotherTypeTakeTheirDefaults) {
  ExceptionData expected;
  expected.class_name = "PDOException";
  EXPECT_EQ(parse_exception_data(
                R"({"class":"PDOException","message":7,"code":"HY000","file":null,"line":1.5,
                    "trace":[],"previous":"none","extra":1})"),
            expected);
}

TEST(ExceptionData, TextThatIsNoSuchObjectIsTheMessageOfUnknown) {
  for (const char* text :
       {"", "boom", "[]", "{}", "7", R"({"foo":1})", R"({"class":"X",...})", "\"x\""}) {
    const ExceptionData data = parse_exception_data(text);
    EXPECT_EQ(data.class_name, "unknown") << text;
    EXPECT_EQ(data.message, text);
    EXPECT_EQ(data.previous, nullptr);
  }
}

TEST(ExceptionData, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(parse_exception_data("b\xFFm").message, "b\xEF\xBF\xBDm");
  ExceptionData data = runtime_exception();
  data.class_name = data.message = data.file = data.trace = "\xFF";
  const boost::json::value json = parse_json(to_json(data));
  for (const char* member : {"class", "message", "file", "trace"}) {
    EXPECT_EQ(json.at(member).as_string(), "\xEF\xBF\xBD");
  }
}

TEST(ExceptionData, LongTextsAreCut) {
  ExceptionData data = runtime_exception();
  data.message = data.trace = std::string(100'000, 'x');
  const boost::json::value json = parse_json(to_json(data));
  for (const char* member : {"message", "trace"}) {
    EXPECT_EQ(json.at(member).as_string().size(), 64U * 1024);
    EXPECT_TRUE(json.at(member).as_string().ends_with("x…"));
  }
}

TEST(ExceptionData, IsEqualWhenEveryLevelIs) {
  EXPECT_EQ(chain(5), chain(5));
  EXPECT_FALSE(chain(5) == chain(4));
  EXPECT_FALSE(chain(4) == chain(5));
  for (int member = 0; member < 6; ++member) {
    ExceptionData other = runtime_exception();
    if (member == 0) other.class_name += "x";
    if (member == 1) other.message += "x";
    if (member == 2) ++other.code;
    if (member == 3) other.file += "x";
    if (member == 4) ++other.line;
    if (member == 5) other.trace += "x";
    EXPECT_FALSE(other == runtime_exception()) << member;
    ExceptionData outer = chain(1);
    ExceptionData other_outer = chain(1);
    outer.previous = std::make_shared<const ExceptionData>(runtime_exception());
    other_outer.previous = std::make_shared<const ExceptionData>(other);
    EXPECT_FALSE(outer == other_outer) << member;
  }
}

}  // namespace
}  // namespace errand
