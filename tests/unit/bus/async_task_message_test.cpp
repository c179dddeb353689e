#include "bus/async_task_message.hpp"

#include <gtest/gtest.h>
#include <string>

namespace errand::detail {
namespace {

constexpr const char* kId = "550e8400-e29b-41d4-a716-446655440000";

NewTask read(const std::string& body) {
  SymfonySerializer serializer;
  serializer.add("sms.send", R"(App\Message\Sms)");
  return read_async_task(Envelope{R"(App\Message\AsyncTaskMessage)", body}, serializer);
}

std::string with_id(const std::string& rest) {
  return R"({"taskId":")" + std::string{kId} + "\"," + rest + "}";
}

void expect_refusal(const std::string& body, const std::string& reason) {
  try {
    static_cast<void>(read(body));
    ADD_FAILURE() << body << " was read";
  } catch (const UnreadableMessage& error) {
    EXPECT_NE(std::string{error.what()}.find(reason), std::string::npos) << error.what();
  }
}

TEST(AsyncTaskMessage, IsRecognisedInAnyNamespace) {
  EXPECT_TRUE(is_async_task("AsyncTaskMessage"));
  EXPECT_TRUE(is_async_task(R"(App\Message\AsyncTaskMessage)"));
  EXPECT_FALSE(is_async_task(R"(App\Message\MyAsyncTaskMessage)"));
  EXPECT_FALSE(is_async_task(R"(App\AsyncTaskMessage\Other)"));
}

TEST(AsyncTaskMessage, TheClassOfThePayloadStandsBesideIt) {
  const NewTask task =
      read(with_id(R"("payload":{"to":"+49","type":"x"},"payloadClass":"App\\Message\\Sms")"));
  EXPECT_EQ(task.id.to_string(), kId);
  EXPECT_EQ(task.envelope.type(), "sms.send");
  EXPECT_EQ(task.envelope.body(), R"({"to":"+49","type":"x"})");
}

TEST(AsyncTaskMessage, OrIsThePayloadsPropertyType) {
  const NewTask task = read(with_id(R"("payload":{"type":"email","to":"test@example.com"})"));
  EXPECT_EQ(task.envelope.type(), "email");
  EXPECT_EQ(task.envelope.body(), R"({"type":"email","to":"test@example.com"})");
}

TEST(AsyncTaskMessage, ThePayloadMayBeATextOfJson) {
  EXPECT_EQ(read(with_id(R"("payload":"{\"type\":\"email\"}")")).envelope.body(),
            R"({"type":"email"})");
}

TEST(AsyncTaskMessage, WhatIsWrongIsNamed) {
  expect_refusal("[]", "is an array, not an object");
  expect_refusal(R"({"payload":{"type":"email"}})", "has no taskId");
  expect_refusal(R"({"taskId":"7","payload":{"type":"email"}})", "no UUID of version 4: \"7\"");
  expect_refusal(with_id(R"("x":1)"), "has no payload");
  expect_refusal(with_id(R"("payload":"{")"), "a payload that is no JSON");
  expect_refusal(with_id(R"("payload":{"to":"x"})"), "payloadClass");
  expect_refusal(with_id(R"("payload":{},"payloadClass":7)"), "payloadClass that is a number");
  expect_refusal(with_id(R"("payload":{"type":""})"), "cannot become a task");
}

}  // namespace
}  // namespace errand::detail
