#include "errand/task.hpp"

#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "errand/errors.hpp"

namespace errand {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr Timestamp kSubmitted{seconds{1'764'583'200}};
constexpr Timestamp kStarted = kSubmitted + seconds{5};
constexpr Timestamp kCompleted = kSubmitted + seconds{30};

TaskData some_task() { return TaskData::pending(TaskId::generate(), R"({"a":1})", kSubmitted); }

/// A valid task of this status.
TaskData task_that_is(TaskStatus status) {
  TaskData task = some_task();
  if (status == TaskStatus::pending) return task;
  if (status == TaskStatus::cancelled) {
    task.cancel(kCompleted);
    return task;
  }
  task.start(kStarted);
  if (status == TaskStatus::retrying) task.retry();
  if (status == TaskStatus::completed) task.complete("{}", kCompleted);
  if (status == TaskStatus::failed) task.fail("{}", kCompleted);
  return task;
}

std::string error_of(const TaskData& task) {
  try {
    validate(task);
  } catch (const ValidationException& error) {
    return error.what();
  }
  return "no error";
}

TEST(TaskData, IsValidInEveryStatusTheVerbsLeadTo) {
  for (const TaskStatus status : kAllTaskStatuses) {
    const TaskData task = task_that_is(status);
    EXPECT_EQ(task.status, status);
    EXPECT_EQ(error_of(task), "no error") << to_string(status);
  }
}

TEST(TaskData, TheVerbsKeepTheTimesAndDocuments) {
  TaskData task = some_task();
  EXPECT_EQ(task.payload, R"({"a":1})");
  EXPECT_EQ(task.submitted_at, kSubmitted);
  EXPECT_EQ(task.version, std::nullopt);
  task.start(kStarted);
  EXPECT_EQ(task.started_at, kStarted);
  task.complete(R"({"sent":true})", kCompleted);
  EXPECT_EQ(task.result, R"({"sent":true})");
  EXPECT_EQ(task.error, std::nullopt);
  EXPECT_EQ(task.started_at, kStarted);
  EXPECT_EQ(task.completed_at, kCompleted);

  TaskData failed = task_that_is(TaskStatus::running);
  failed.fail("boom", kCompleted);
  EXPECT_EQ(failed.error, "boom");
  EXPECT_EQ(failed.result, std::nullopt);
  EXPECT_EQ(failed.completed_at, kCompleted);
}

TEST(TaskData, TheSecondAttemptHasAStartOfItsOwn) {
  TaskData task = task_that_is(TaskStatus::retrying);
  EXPECT_EQ(task.started_at, kStarted);
  task.start(kStarted + seconds{9});
  EXPECT_EQ(task.started_at, kStarted + seconds{9});
  EXPECT_EQ(task.status, TaskStatus::running);
}

TEST(TaskData, AnOutcomeStoredEarlyDoesNotContradictTheFinalOne) {
  TaskData running = task_that_is(TaskStatus::running);
  running.result = "{}";
  running.error = "{}";
  ASSERT_EQ(error_of(running), "no error");
  for (const auto& finish : std::initializer_list<std::function<void(TaskData&)>>{
           [](TaskData& task) { task.complete("{}", kCompleted); },
           [](TaskData& task) { task.fail("{}", kCompleted); },
           [](TaskData& task) { task.cancel(kCompleted); }, [](TaskData& task) { task.retry(); }}) {
    TaskData task = running;
    finish(task);
    EXPECT_EQ(error_of(task), "no error") << to_string(task.status);
  }
}

TEST(TaskData, TheVerbsFollowTheTransitionTableInEveryStatus) {
  const std::map<TaskEvent, std::function<void(TaskData&)>> verbs{
      {TaskEvent::claim, [](TaskData& task) { task.start(kStarted); }},
      {TaskEvent::complete, [](TaskData& task) { task.complete("{}", kCompleted); }},
      {TaskEvent::fail, [](TaskData& task) { task.fail("{}", kCompleted); }},
      {TaskEvent::retry, [](TaskData& task) { task.retry(); }},
      {TaskEvent::cancel, [](TaskData& task) { task.cancel(kCompleted); }},
  };
  for (const TaskStatus from : kAllTaskStatuses) {
    for (const auto& [event, verb] : verbs) {
      TaskData task = task_that_is(from);
      const TaskData before = task;
      if (const std::optional<TaskStatus> to = next(from, event)) {
        EXPECT_NO_THROW(verb(task)) << to_string(from) << " + " << to_string(event);
        EXPECT_EQ(task.status, *to);
        EXPECT_EQ(error_of(task), "no error") << to_string(from) << " + " << to_string(event);
      } else {
        EXPECT_THROW(verb(task), ValidationException)
            << to_string(from) << " + " << to_string(event);
        EXPECT_EQ(task, before) << to_string(from) << " + " << to_string(event);
      }
    }
  }
}

enum class May { must, must_not, either };

struct Rules {
  May result, error, started_at, completed_at;
};

const std::map<TaskStatus, Rules> kRules{
    {TaskStatus::pending, {May::must_not, May::must_not, May::must_not, May::must_not}},
    {TaskStatus::running, {May::either, May::either, May::must, May::must_not}},
    {TaskStatus::retrying, {May::must_not, May::must_not, May::must, May::must_not}},
    {TaskStatus::completed, {May::must, May::must_not, May::must, May::must}},
    {TaskStatus::failed, {May::must_not, May::must, May::must, May::must}},
    {TaskStatus::cancelled, {May::must_not, May::must_not, May::either, May::must}},
};

/// All sixteen combinations of result, error, started_at and completed_at in all six statuses.
TEST(TaskData, HasExactlyTheMembersItsStatusAllows) {
  const auto fits = [](May rule, bool present) {
    return rule == May::either || present == (rule == May::must);
  };
  for (const TaskStatus status : kAllTaskStatuses) {
    const Rules& rules = kRules.at(status);
    for (unsigned bits = 0; bits < 16; ++bits) {
      TaskData task = some_task();
      task.status = status;
      if ((bits & 1U) != 0) task.result = "{}";
      if ((bits & 2U) != 0) task.error = "{}";
      if ((bits & 4U) != 0) task.started_at = kStarted;
      if ((bits & 8U) != 0) task.completed_at = kCompleted;
      const bool valid = fits(rules.result, task.result.has_value()) &&
                         fits(rules.error, task.error.has_value()) &&
                         fits(rules.started_at, task.started_at.has_value()) &&
                         fits(rules.completed_at, task.completed_at.has_value());
      EXPECT_EQ(error_of(task) == "no error", valid)
          << to_string(status) << " with " << bits << ": " << error_of(task);
    }
  }
}

TEST(TaskData, TheErrorNamesTheTaskTheStatusAndTheMember) {
  TaskData task = task_that_is(TaskStatus::completed);
  task.result.reset();
  EXPECT_THAT(error_of(task), ::testing::HasSubstr(task.id.to_string()));
  EXPECT_THAT(error_of(task), ::testing::HasSubstr("completed"));
  EXPECT_THAT(error_of(task), ::testing::HasSubstr("result is missing"));
}

TEST(TaskData, NeedsNoPayload) {
  EXPECT_EQ(error_of(TaskData::pending(TaskId::generate(), std::nullopt, kSubmitted)), "no error");
}

TEST(TaskData, RefusesAStatusThatIsNone) {
  TaskData task = some_task();
  task.status = static_cast<TaskStatus>(17);
  EXPECT_THAT(error_of(task), ::testing::HasSubstr("17 is none of"));
}

TEST(TaskData, TimesMayBeEqualButNotRunBackwards) {
  const microseconds tick{1};
  struct Case {
    std::optional<Timestamp> started, completed;
    bool valid;
  };
  const Case cases[] = {
      {kSubmitted, kSubmitted, true},         {kSubmitted, kSubmitted + tick, true},
      {kSubmitted - tick, kCompleted, false}, {kStarted, kStarted, true},
      {kStarted, kStarted - tick, false},
  };
  for (const Case& c : cases) {
    TaskData task = task_that_is(TaskStatus::completed);
    task.started_at = c.started;
    task.completed_at = c.completed;
    EXPECT_EQ(error_of(task) == "no error", c.valid) << error_of(task);
  }
  TaskData never_started = task_that_is(TaskStatus::cancelled);
  never_started.completed_at = kSubmitted;
  EXPECT_EQ(error_of(never_started), "no error");
  never_started.completed_at = kSubmitted - tick;
  EXPECT_THAT(error_of(never_started), ::testing::HasSubstr("is before submitted_at"));
}

TEST(TaskData, DocumentsAreUtf8WithoutNul) {
  const std::pair<std::string, const char*> cases[] = {
      {"", nullptr},
      {"not JSON, and not looked into", nullptr},
      {"{\"名\":\"🚀\"}", nullptr},
      {std::string{"a\0b", 3}, "NUL, and does at byte 1"},
      {"ab\xFF", "UTF-8, and is not at byte 2"},
      {"\xED\xA0\x80", "UTF-8, and is not at byte 0"},
  };
  for (const auto& [text, message] : cases) {
    const auto expect = [&, &expected = message](const TaskData& task, const char* member) {
      if (expected == nullptr) {
        EXPECT_EQ(error_of(task), "no error");
      } else {
        EXPECT_THAT(error_of(task), ::testing::HasSubstr(member));
        EXPECT_THAT(error_of(task), ::testing::HasSubstr(expected));
      }
    };
    TaskData payload = some_task();
    payload.payload = text;
    expect(payload, "payload");
    TaskData result = task_that_is(TaskStatus::completed);
    result.result = text;
    expect(result, "result");
    TaskData error = task_that_is(TaskStatus::failed);
    error.error = text;
    expect(error, "error");
  }
}

TEST(TaskData, DocumentsAreAsBigAsAllowedAndNotBigger) {
  TaskData task = some_task();
  task.payload = std::string(kMaxDocumentBytes, 'x');
  EXPECT_EQ(error_of(task), "no error");
  task.payload->push_back('x');
  EXPECT_THAT(error_of(task), ::testing::HasSubstr("67108865 bytes; at most 67108864"));
}

}  // namespace
}  // namespace errand
