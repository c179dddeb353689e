#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "errand/errors.hpp"
#include "errand/task.hpp"
#include "errand/task_queue.hpp"

namespace errand {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

NewTask some_task() { return NewTask{.envelope = Envelope{"email.send", "{}"}}; }

NewTask task_with_headers(Headers headers) {
  return NewTask{.envelope = Envelope{"email.send", "{}", std::move(headers)}};
}

std::string error_of(const NewTask& task) {
  try {
    validate(task);
  } catch (const ValidationException& error) {
    return error.what();
  }
  return "no error";
}

TEST(NewTask, IsValidByDefault) { EXPECT_EQ(error_of(some_task()), "no error"); }

TEST(NewTask, TypeAndQueueAreShortPlainText) {
  struct Case {
    std::string label;
    const char* message;
  };
  const Case cases[] = {
      {"a", nullptr},
      {"发送 e-mail", nullptr},
      {std::string(190, 'x'), nullptr},
      {"", "must not be empty"},
      {std::string(191, 'x'), "191 bytes; at most 190"},
      {"a\nb", "control characters"},
      {std::string{"a\0b", 3}, "control characters"},
      {"a\x7F", "control characters"},
      {"a\xC2\x85", "control characters"},
      {"a\xFF", "must be UTF-8"},
  };
  for (const Case& c : cases) {
    const NewTask by_type{.envelope = Envelope{c.label, "{}"}};
    NewTask by_queue = some_task();
    by_queue.queue = c.label;
    if (c.message == nullptr) {
      EXPECT_EQ(error_of(by_type), "no error");
      EXPECT_EQ(error_of(by_queue), "no error");
    } else {
      EXPECT_THAT(error_of(by_type), HasSubstr("type: "));
      EXPECT_THAT(error_of(by_type), HasSubstr(c.message));
      EXPECT_THAT(error_of(by_queue), HasSubstr("queue: "));
      EXPECT_THAT(error_of(by_queue), HasSubstr(c.message));
    }
  }
}

TEST(NewTask, PriorityIsASmallInteger) {
  for (const auto& [priority, valid] :
       {std::pair{-32768, true}, {32767, true}, {0, true}, {-32769, false}, {32768, false}}) {
    NewTask task = some_task();
    task.priority = priority;
    EXPECT_EQ(error_of(task) == "no error", valid) << priority;
    if (!valid) {
      EXPECT_THAT(error_of(task), HasSubstr("priority: must be between"));
    }
  }
}

TEST(NewTask, DelayIsAtMostTenYears) {
  const milliseconds ten_years = std::chrono::days{3653};
  for (const auto& [delay, valid] : {std::pair{milliseconds{0}, true},
                                     {ten_years, true},
                                     {milliseconds{-1}, false},
                                     {ten_years + milliseconds{1}, false},
                                     {milliseconds::max(), false},
                                     {milliseconds::min(), false}}) {
    NewTask task = some_task();
    task.delay = delay;
    EXPECT_EQ(error_of(task) == "no error", valid) << delay.count();
    if (!valid) {
      EXPECT_THAT(error_of(task), HasSubstr("delay: must be between"));
    }
  }
}

TEST(NewTask, RetryPolicyIsChecked) {
  NewTask task = some_task();
  task.retry.max_retries = -1;
  EXPECT_THAT(error_of(task), HasSubstr("max_retries"));
}

TEST(NewTask, PayloadIsUtf8WithoutNulAndNotTooBig) {
  EXPECT_THAT(error_of({.envelope = Envelope{"t", "\xFF"}}), HasSubstr("payload: must be UTF-8"));
  EXPECT_THAT(error_of({.envelope = Envelope{"t", std::string(1, '\0')}}),
              HasSubstr("payload: must not hold NUL"));
  EXPECT_EQ(error_of({.envelope = Envelope{"t", std::string(kMaxDocumentBytes, ' ')}}), "no error");
  EXPECT_THAT(error_of({.envelope = Envelope{"t", std::string(kMaxDocumentBytes + 1, ' ')}}),
              HasSubstr("payload: has 67108865 bytes"));
}

TEST(NewTask, HasAtMost64Headers) {
  Headers headers;
  for (int i = 0; i < 64; ++i) headers.emplace("h" + std::to_string(i), "");
  EXPECT_EQ(error_of(task_with_headers(headers)), "no error");
  headers.emplace("one-more", "");
  EXPECT_THAT(error_of(task_with_headers(headers)), HasSubstr("there are 65; at most 64"));
}

TEST(NewTask, HeadersHave64KibibytesInAll) {
  const std::string half(32 * 1024 - 1, 'x');
  EXPECT_EQ(error_of(task_with_headers({{"a", half}, {"b", half}})), "no error");
  EXPECT_THAT(error_of(task_with_headers({{"a", half}, {"b", half + "x"}})),
              HasSubstr("65537 bytes in all; at most 65536"));
}

TEST(NewTask, HeadersAreUtf8WithoutNulAndHaveNames) {
  EXPECT_EQ(error_of(task_with_headers({{"名", "值\n"}})), "no error");
  EXPECT_THAT(error_of(task_with_headers({{"", "x"}})), HasSubstr("name must not be empty"));
  EXPECT_THAT(error_of(task_with_headers({{"trace", "\xFF"}})), HasSubstr("header trace: must be"));
  EXPECT_THAT(error_of(task_with_headers({{"\xFF", "x"}})), HasSubstr("headers: a name: must be"));
  EXPECT_THAT(error_of(task_with_headers({{"trace", std::string(1, '\0')}})), HasSubstr("NUL"));
}

}  // namespace
}  // namespace errand
