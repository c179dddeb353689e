#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/json.hpp"
#include "errand/task.hpp"

namespace errand {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPending = R"({
  "taskId": "550e8400-e29b-41d4-a716-446655440000",
  "status": "pending",
  "payload": "{\"type\":\"email\",\"to\":\"test@example.com\"}",
  "submittedAt": "2025-12-01T10:00:00Z"
})";

constexpr const char* kCompleted = R"({
  "taskId": "550e8400-e29b-41d4-a716-446655440001",
  "status": "completed",
  "payload": "{\"type\":\"report\"}",
  "result": "{\"fileUrl\":\"/reports/2025-12-01.pdf\"}",
  "submittedAt": "2025-12-01T10:00:00Z",
  "startedAt": "2025-12-01T10:00:05Z",
  "completedAt": "2025-12-01T10:00:30Z"
})";

// The error is cut short and is not JSON: documents are not looked into.
constexpr const char* kFailed = R"({
  "taskId": "550e8400-e29b-41d4-a716-446655440002",
  "status": "failed",
  "payload": "{\"type\":\"api_call\"}",
  "error": "{\"class\":\"RuntimeException\",\"message\":\"API timeout\",\"code\":500,...}",
  "submittedAt": "2025-12-01T10:00:00Z",
  "startedAt": "2025-12-01T10:00:05Z",
  "completedAt": "2025-12-01T10:00:35Z"
})";

/// The same text without the white space between its tokens.
std::string compact(std::string_view pretty) {
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < pretty.size(); ++i) {
    if (pretty[i] == '"' && pretty[i - 1] != '\\') in_string = !in_string;
    if (in_string || (pretty[i] != ' ' && pretty[i] != '\n')) text.push_back(pretty[i]);
  }
  return text;
}

TEST(TaskJson, TheFixturesComeBackCharacterByCharacter) {
  for (const char* fixture : {kPending, kCompleted, kFailed}) {
    EXPECT_EQ(to_json(parse_task_data(fixture)), compact(fixture));
  }
}

TEST(TaskJson, TheFixturesMeanWhatTheySay) {
  const TaskData pending = parse_task_data(kPending);
  EXPECT_EQ(pending.id.to_string(), "550e8400-e29b-41d4-a716-446655440000");
  EXPECT_EQ(pending.status, TaskStatus::pending);
  EXPECT_EQ(pending.payload, R"({"type":"email","to":"test@example.com"})");
  EXPECT_EQ(pending.result, std::nullopt);
  EXPECT_EQ(pending.error, std::nullopt);
  EXPECT_EQ(pending.started_at, std::nullopt);
  EXPECT_EQ(pending.completed_at, std::nullopt);
  EXPECT_EQ(pending.version, std::nullopt);

  const TaskData completed = parse_task_data(kCompleted);
  EXPECT_EQ(completed.result, R"({"fileUrl":"/reports/2025-12-01.pdf"})");
  EXPECT_EQ(*completed.started_at - completed.submitted_at, std::chrono::seconds{5});
  EXPECT_EQ(*completed.completed_at - completed.submitted_at, std::chrono::seconds{30});

  const TaskData failed = parse_task_data(kFailed);
  EXPECT_EQ(failed.error, R"({"class":"RuntimeException","message":"API timeout","code":500,...})");
}

TEST(TaskJson, KeepsUnicodeQuotesAndFractionsOfASecond) {
  TaskData task = TaskData::pending(TaskId::generate(), "{\"名\":\"\\\"🚀\\n\"}\n\t\x01\x7F",
                                    Timestamp{std::chrono::microseconds{1'764'583'200'000'001}});
  const std::string text = to_json(task);
  EXPECT_EQ(parse_task_data(text), task);
  EXPECT_THAT(text, HasSubstr("2025-12-01T10:00:00.000001Z"));
}

TEST(TaskJson, NullCountsAsMissingAndUnknownMembersDoNotMatter) {
  const TaskData task = parse_task_data(R"({
    "taskId":"550e8400-e29b-41d4-a716-446655440000","status":"pending","payload":null,
    "result":null,"error":null,"submittedAt":"2025-12-01T10:00:00Z","startedAt":null,
    "completedAt":null,"version":7,"type":"email.send","extra":{"deep":[1,2]}})");
  EXPECT_EQ(task.payload, std::nullopt);
  EXPECT_EQ(task.version, std::nullopt);
}

TEST(TaskJson, ReadsOffsetsAsUtc) {
  const TaskData task = parse_task_data(
      R"({"taskId":"550e8400-e29b-41d4-a716-446655440000","status":"pending",
          "submittedAt":"2025-12-01T18:00:00+08:00"})");
  EXPECT_THAT(to_json(task), HasSubstr("2025-12-01T10:00:00Z"));
}

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse_task_data(text));
  } catch (const ValidationException& error) {
    return error.what();
  }
  return "no error";
}

/// The pending fixture with one member set to other JSON; empty: without it.
std::string fixture_with(std::string_view member, std::string_view json) {
  boost::json::object object = parse_json(kPending).as_object();
  if (json.empty()) {
    object.erase(member);
  } else {
    object[member] = parse_json(json);
  }
  std::string text;
  for (const auto& [name, value] : object) {
    text += (text.empty() ? "{\"" : ",\"") + std::string{name} + "\":";
    if (value.is_string()) {
      text += "\"";
      for (const char c : value.get_string()) {
        text += c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
      }
      text += "\"";
    } else {
      text += json;
    }
  }
  return text + "}";
}

TEST(TaskJson, TheErrorNamesTheMemberThatIsWrong) {
  struct Case {
    const char* member;
    const char* json;
    const char* message;
  };
  const Case cases[] = {
      {"taskId", "", "member \"taskId\" is missing"},
      {"taskId", "null", "member \"taskId\" is missing"},
      {"taskId", "7", "member \"taskId\" must be a string, and is a number"},
      {"taskId", R"("abc")", R"(member "taskId" must be a UUID version 4, and is "abc")"},
      {"status", "", "member \"status\" is missing"},
      {"status", "true", "member \"status\" must be a string, and is a bool"},
      {"status", R"("PENDING")", "and is \"PENDING\""},
      {"payload", "{}", "member \"payload\" must be a string, and is an object"},
      {"payload", "[]", "member \"payload\" must be a string, and is an array"},
      {"result", "1.5", "member \"result\" must be a string, and is a number"},
      {"error", "false", "member \"error\" must be a string, and is a bool"},
      {"submittedAt", "", "member \"submittedAt\" is missing"},
      {"submittedAt", "1764583200", "member \"submittedAt\" must be a string"},
      {"submittedAt", R"("yesterday")", "member \"submittedAt\" must be a time"},
      {"startedAt", R"("")", "member \"startedAt\" must be a time"},
      {"completedAt", R"("2025-02-30T00:00:00Z")", "member \"completedAt\" must be a time"},
  };
  ASSERT_EQ(error_of(fixture_with("payload", R"("x")")), "no error");
  for (const Case& c : cases) {
    EXPECT_THAT(error_of(fixture_with(c.member, c.json)), HasSubstr(c.message)) << c.json;
  }
}

TEST(TaskJson, IsValidatedAsARecord) {
  EXPECT_THAT(error_of(fixture_with("status", R"("completed")")), HasSubstr("result is missing"));
  EXPECT_THAT(error_of(fixture_with("result", R"("{}")")), HasSubstr("result must be absent"));
  EXPECT_THAT(error_of(fixture_with("startedAt", R"("2025-12-01T10:00:00Z")")),
              HasSubstr("started_at must be absent"));
}

TEST(TaskJson, MustBeAnObject) {
  EXPECT_THAT(error_of("[]"), HasSubstr("expected an object, got an array"));
  EXPECT_THAT(error_of("null"), HasSubstr("expected an object, got null"));
  EXPECT_THAT(error_of("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(std::string{kPending} + "x"), HasSubstr("more text"));
}

TEST(TaskJson, ADocumentWithAnEscapedNulIsRefused) {
  EXPECT_THAT(error_of(R"({"taskId":"550e8400-e29b-41d4-a716-446655440000","status":"pending",
                          "payload":"\u0000","submittedAt":"2025-12-01T10:00:00Z"})"),
              HasSubstr("payload: must not hold NUL"));
}

TEST(TaskJson, IsJsonEvenForDataThatIsNotValid) {
  const TaskData task = TaskData::pending(TaskId::generate(), "\xFF\"", Timestamp{});
  EXPECT_EQ(parse_json(to_json(task)).at("payload").as_string(), "\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace errand
