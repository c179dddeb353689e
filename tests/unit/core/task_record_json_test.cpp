#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/json.hpp"
#include "errand/task_catalog.hpp"

namespace errand {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Timestamp kSubmitted{seconds{1'764'583'200}};

TaskRecord running_record() {
  TaskRecord record{
      .data = TaskData::pending(TaskId::from_string("550e8400-e29b-41d4-a716-446655440000"),
                                R"({"to":"a@b.c"})", kSubmitted)};
  record.data.start(kSubmitted + seconds{5});
  record.data.version = 2;
  record.type = "email.send";
  record.queue = "mail";
  record.priority = -3;
  record.available_at = kSubmitted;
  record.attempts = 1;
  record.crashes = 2;
  record.retry.max_retries = 4;
  return record;
}

TEST(TaskRecordJson, HasTheMembersInOrder) {
  EXPECT_EQ(to_json(running_record()),
            R"({"taskId":"550e8400-e29b-41d4-a716-446655440000","status":"running",)"
            R"("payload":"{\"to\":\"a@b.c\"}","submittedAt":"2025-12-01T10:00:00Z",)"
            R"("startedAt":"2025-12-01T10:00:05Z","type":"email.send","queue":"mail",)"
            R"("priority":-3,"availableAt":"2025-12-01T10:00:00Z","attempts":1,"maxRetries":4,)"
            R"("crashes":2,"version":2})");
}

TEST(TaskRecordJson, ShowsWhatOnlySomeTasksHave) {
  TaskRecord record = running_record();
  record.worker = "host:1:ab";
  record.lease_expires_at = kSubmitted + seconds{20};
  record.cancel_requested = true;
  record.progress = Progress{3, 10, "half \"way\""};
  record.headers = {{"tenant", "a\nb"}, {"trace-id", "7"}};
  record.history = R"([{"attempt":1,"error":{"class":"X"}}])";
  EXPECT_THAT(to_json(record),
              HasSubstr(R"("version":2,"worker":"host:1:ab",)"
                        R"("leaseExpiresAt":"2025-12-01T10:00:20Z","cancelRequested":true,)"
                        R"("progress":{"done":3,"total":10,"note":"half \"way\""},)"
                        R"("headers":{"tenant":"a\nb","trace-id":"7"},)"
                        R"("history":[{"attempt":1,"error":{"class":"X"}}]})"));
}

TEST(TaskRecordJson, OfARecordThatWasNeverQueuedNamesNoQueue) {
  const TaskRecord record{.data = TaskData::pending(TaskId::generate(), std::nullopt, kSubmitted)};
  const std::string text = to_json(record);
  for (const char* member : {"type", "queue", "availableAt", "version", "worker", "headers"}) {
    EXPECT_THAT(text, Not(HasSubstr("\"" + std::string{member} + "\":")));
  }
  EXPECT_THAT(text, HasSubstr(R"("attempts":0)"));
}

TEST(TaskRecordJson, LeavesOutAHistoryThatIsNotAJsonArray) {
  for (const char* history : {"", "[", "{}", "7", "[1] [2]", "[\"\xFF\"]"}) {
    TaskRecord record = running_record();
    record.history = history;
    EXPECT_THAT(to_json(record), Not(HasSubstr("history"))) << history;
  }
}

TEST(TaskRecordJson, IsJsonWhateverTheTextsHold) {
  TaskRecord record = running_record();
  record.type = "\xFF\"";
  record.queue = "\\";
  record.worker = std::string{"\0", 1};
  record.headers = {{"\xFE\"", "\xFF"}};
  record.progress = Progress{0, 0, "\xFF"};
  EXPECT_EQ(parse_json(to_json(record)).at("queue").as_string(), "\\");
}

TEST(TaskPage, CountsItsPages) {
  EXPECT_EQ((TaskPage{.total = 0}.total_pages()), 0);
  EXPECT_EQ((TaskPage{.total = 20}.total_pages()), 1);
  EXPECT_EQ((TaskPage{.total = 21}.total_pages()), 2);
}

}  // namespace
}  // namespace errand
