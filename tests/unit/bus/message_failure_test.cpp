#include "bus/message_failure.hpp"

#include <gtest/gtest.h>
#include <string>

#include "errand/testing/fake_clock.hpp"

#include "bus/symfony_stamps.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;

constexpr Timestamp kNow = testing::FakeClock::kStart;

ExceptionData boom() {
  ExceptionData error;
  error.class_name = "std::runtime_error";
  error.message = "boom \"é\"";
  error.code = 5;
  error.file = "handler.cpp";
  error.line = 20;
  error.trace = "#0 main";
  return error;
}

constexpr const char* kId = "42";

WireMessage message() {
  return {.body = R"({"to":"+491"})",
          .headers = {{"type", R"(App\Message\SmsNotification)"}, {"X-Unknown", "carried"}}};
}

TEST(MessageFailure, ARetryIsTheSameMessageWithItsStory) {
  const Outgoing retry = retry_of(message(), kId, boom(), milliseconds{1000}, kNow);
  EXPECT_EQ(retry.delay, milliseconds{1000});
  EXPECT_EQ(retry.message.body, message().body);
  Headers headers = retry.message.headers;
  EXPECT_EQ(headers[kDelayStamp], R"([{"delay":1000}])");
  EXPECT_EQ(headers[kRedeliveryStamp],
            R"([{"retryCount":1,"redeliveredAt":"2025-12-01T10:00:00+00:00"}])");
  EXPECT_EQ(headers[kErrorDetailsStamp],
            R"([{"exceptionClass":"std::runtime_error","exceptionCode":5,)"
            R"("exceptionMessage":"boom \"é\"","flattenException":null}])");
  EXPECT_EQ(headers["X-Unknown"], "carried");
  EXPECT_EQ(headers["type"], R"(App\Message\SmsNotification)");
  EXPECT_FALSE(headers.contains(kSentToFailureStamp));
}

TEST(MessageFailure, WhatItWasCalledFirstStaysWithIt) {
  WireMessage next = retry_of(message(), "7", boom(), milliseconds{0}, kNow).message;
  EXPECT_EQ(message_id(next.headers), "7");
  next = retry_of(next, "8", boom(), milliseconds{0}, kNow).message;
  next = dead_letter_of(next, "9", boom(), "async", kNow).message;
  EXPECT_EQ(message_id(next.headers), "7");
  EXPECT_EQ(message_id(second_chance_of(next).message.headers), "7");
}

TEST(MessageFailure, EachRetryCountsOnFromTheLastStamp) {
  WireMessage next = message();
  for (int i = 1; i <= 3; ++i) {
    next = retry_of(next, kId, boom(), milliseconds{1}, kNow).message;
    EXPECT_EQ(retry_count(next.headers), i);
  }
  next.headers[kRedeliveryStamp] = R"([{"retryCount":7,"redeliveredAt":"x","more":true}])";
  EXPECT_EQ(retry_count(retry_of(next, kId, boom(), milliseconds{1}, kNow).message.headers), 8);
}

TEST(MessageFailure, TheSameErrorIsNotedOnce) {
  WireMessage next = retry_of(message(), kId, boom(), milliseconds{1}, kNow).message;
  const std::string once = next.headers[kErrorDetailsStamp];
  next = retry_of(next, kId, boom(), milliseconds{1}, kNow).message;
  EXPECT_EQ(next.headers[kErrorDetailsStamp], once);
  ExceptionData other = boom();
  other.message = "another";
  next = retry_of(next, kId, other, milliseconds{1}, kNow).message;
  EXPECT_NE(next.headers[kErrorDetailsStamp], once);
  EXPECT_EQ(last_error(next)->message, "another");
}

TEST(MessageFailure, TheStoryIsCutToTen) {
  WireMessage next = message();
  for (int i = 0; i < 30; ++i) next = retry_of(next, kId, boom(), milliseconds{i}, kNow).message;
  EXPECT_EQ(retry_count(next.headers), 30);
  EXPECT_TRUE(next.headers[kDelayStamp].starts_with(R"([{"delay":0},{"delay":21},)"))
      << next.headers[kDelayStamp];
}

TEST(MessageFailure, ADeadLetterSaysWhereItCameFrom) {
  const Outgoing letter = dead_letter_of(
      retry_of(message(), kId, boom(), milliseconds{0}, kNow).message, kId, boom(), "async", kNow);
  EXPECT_EQ(letter.delay, milliseconds{0});
  Headers headers = letter.message.headers;
  EXPECT_EQ(headers[kSentToFailureStamp], R"([{"originalReceiverName":"async"}])");
  EXPECT_EQ(headers[kDelayStamp], R"([{"delay":0},{"delay":0}])");
  EXPECT_EQ(headers[kRedeliveryStamp],
            R"([{"retryCount":1,"redeliveredAt":"2025-12-01T10:00:00+00:00"},)"
            R"({"retryCount":0,"redeliveredAt":"2025-12-01T10:00:00+00:00"}])");
  EXPECT_EQ(failed_in(letter.message), "async");
  EXPECT_EQ(last_error(letter.message), boom()) << "file, line and trace, too";
}

TEST(MessageFailure, ADeadLetterCanBeReadByTheOtherSide) {
  WireMessage bad = message();
  bad.headers["X-Message-Stamp-App\\S"] = "broken";
  bad.headers[kRedeliveryStamp] = R"({"retryCount":1})";
  const WireMessage letter = dead_letter_of(bad, kId, boom(), "async", kNow).message;
  EXPECT_EQ(find_bad_stamp(letter.headers), std::nullopt);
  EXPECT_EQ(letter.headers.at("X-Errand-Bad-Stamp-App\\S"), "broken");
}

TEST(MessageFailure, ASecondChanceBeginsAnew) {
  const WireMessage letter = dead_letter_of(message(), kId, boom(), "async", kNow).message;
  const Outgoing chance = second_chance_of(letter);
  EXPECT_EQ(retry_count(chance.message.headers), 0);
  EXPECT_EQ(failed_in(chance.message), std::nullopt);
  EXPECT_EQ(chance.message.body, message().body);
  EXPECT_EQ(chance.message.headers.at("X-Unknown"), "carried");
}

TEST(MessageFailure, WhatPhpNotedIsTheErrorIfItCameLater) {
  WireMessage letter = dead_letter_of(message(), kId, boom(), "async", kNow).message;
  add_stamp(letter.headers, kErrorDetailsStamp,
            {{"exceptionClass", "RuntimeException"},
             {"exceptionCode", "HY000"},
             {"exceptionMessage", "in PHP"}});
  EXPECT_EQ(last_error(letter)->class_name, "RuntimeException");
  EXPECT_EQ(last_error(letter)->message, "in PHP");
}

TEST(MessageFailure, NobodyMayHaveNotedAnything) {
  EXPECT_EQ(last_error(message()), std::nullopt);
  EXPECT_EQ(failed_in(message()), std::nullopt);
}

}  // namespace
}  // namespace errand::detail
