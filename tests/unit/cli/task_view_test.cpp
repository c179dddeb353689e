#include "cli/task_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "errand/exception_data.hpp"

namespace errand::cli {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

const Timestamp kNow{seconds{1'764'583'200}};  // 2025-12-01T10:00:00Z
const TaskId kId = TaskId::from_string("0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10");

TaskRecord queued() {
  TaskRecord task{.data = TaskData::pending(kId, R"({"to":"a@b.c"})", kNow - seconds{5})};
  task.type = "email.send";
  task.queue = "mail";
  return task;
}

std::string shown(const TaskRecord& task, const terminal::Screen& screen = {}) {
  std::ostringstream out;
  print_task(out, task, kNow, screen);
  return out.str();
}

TEST(TaskView, AWaitingTaskShowsWhatItIs) {
  EXPECT_EQ(shown(queued()),
            "task       0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10\n"
            "status     pending\n"
            "type       email.send\n"
            "queue      mail\n"
            "submitted  2025-12-01T09:59:55Z  5 s ago\n"
            "attempts   0 of 4\n"
            "payload    {\"to\":\"a@b.c\"}\n");
}

TEST(TaskView, ADelayedTaskShowsWhenItIsDue) {
  TaskRecord task = queued();
  task.available_at = kNow + seconds{90};
  EXPECT_THAT(shown(task), HasSubstr("due        2025-12-01T10:01:30Z  in 1 min 30 s\n"));
}

TEST(TaskView, ARunningTaskShowsItsProgressAndThatItWasAskedToStop) {
  TaskRecord task = queued();
  task.data.start(kNow - seconds{2});
  task.attempts = 1;
  task.worker = "host-1-abc";
  task.progress = Progress{.done = 5, .total = 20, .note = "reading\x1b[2J"};
  task.cancel_requested = true;
  const std::string text = shown(task);
  EXPECT_THAT(text, HasSubstr("status     running, asked to stop\n"));
  EXPECT_THAT(text, HasSubstr("worker     host-1-abc\n"));
  EXPECT_THAT(text,
              HasSubstr("progress   █████░░░░░░░░░░░░░░░ 25 % · 5 of 20 · reading\\x1b[2J\n"));
}

TEST(TaskView, AFailedTaskShowsTheWholeChainOfErrors) {
  TaskRecord task = queued();
  task.data.start(kNow - seconds{2});
  auto cause = std::make_shared<ExceptionData>();
  cause->class_name = "std::system_error";
  cause->message = "refused";
  cause->code = 111;
  ExceptionData error;
  error.class_name = "std::runtime_error";
  error.message = "no\x1b[31m mail";
  error.file = "mail.cpp";
  error.line = 42;
  error.trace = "#0 deliver\n#1 main";
  error.previous = cause;
  task.data.fail(to_json(error), kNow - seconds{1});
  EXPECT_THAT(shown(task), HasSubstr("error      std::runtime_error: no\\x1b[31m mail\n"
                                     "           thrown at mail.cpp:42\n"
                                     "             #0 deliver\n"
                                     "             #1 main\n"
                                     "           caused by std::system_error: refused\n"
                                     "           code 111\n"));
}

TEST(TaskView, EarlierAttemptsAreShownWithTheirErrors) {
  TaskRecord task = queued();
  task.history =
      R"([{"attempt":1,"at":"2025-12-01T09:59:58Z","worker":"w","error":{"class":"Oops","message":"no"}}])";
  EXPECT_THAT(shown(task), HasSubstr("attempt 1  2 s ago, Oops: no\n"));
}

TEST(TaskView, TheLastAttemptOfAFailedTaskIsNotToldTwice) {
  TaskRecord task = queued();
  task.data.start(kNow - seconds{2});
  task.data.fail(R"({"class":"Oops","message":"no"})", kNow - seconds{1});
  task.history = R"([{"attempt":1,"at":"2025-12-01T09:59:59Z","error":{"class":"Oops"}}])";
  EXPECT_THAT(shown(task), Not(HasSubstr("attempt 1")));
}

TEST(TaskView, HistoryThatCannotBeReadIsLeftOut) {
  TaskRecord task = queued();
  for (const char* history : {"", "{}", "[1]", "[{}]", R"([{"attempt":"x","error":7}])"}) {
    task.history = history;
    EXPECT_THAT(shown(task), HasSubstr("payload")) << history;
  }
}

TEST(TaskView, LongDocumentsAreLaidOutAndCut) {
  TaskRecord task = queued();
  std::string payload = "[";
  for (int i = 0; i < 100; ++i) payload += std::to_string(i) + ",";
  payload += "100]";
  task.data.payload = payload;
  const std::string text = shown(task);
  EXPECT_THAT(text, HasSubstr("payload    [\n"
                              "             0,\n"));
  EXPECT_THAT(text, HasSubstr("… 295 bytes in all: --json prints them\n"));
  EXPECT_THAT(text, Not(HasSubstr("99")));
}

TEST(TaskView, ATableHasOneRowForEachTask) {
  std::ostringstream out;
  print_tasks(out, {queued()}, kNow, {});
  EXPECT_EQ(out.str(),
            "ID                                    STATUS   TYPE        QUEUE  TRIES  AGE  ENDED\n"
            "0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10  pending  email.send  mail     0/4  5 s\n");
}

TEST(FormatTasks, OneTaskIsNotTasks) {
  EXPECT_EQ(format_tasks(0), "0 tasks");
  EXPECT_EQ(format_tasks(1), "1 task");
  EXPECT_EQ(format_tasks(2000), "2,000 tasks");
  EXPECT_EQ(format_tasks(1, "expired"), "1 expired task");
  EXPECT_EQ(format_tasks(2, "expired"), "2 expired tasks");
}

}  // namespace
}  // namespace errand::cli
