#include "bus/symfony_stamps.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace errand::detail {
namespace {

TEST(SymfonyStamps, TheLastOneCounts) {
  const Headers headers{{kRedeliveryStamp, R"([{"retryCount":1},{"retryCount":2}])"}};
  EXPECT_EQ(retry_count(headers), 2);
  EXPECT_EQ(retry_count({}), 0);
}

TEST(SymfonyStamps, ACountThatIsNoneIsZero) {
  for (const char* stamps : {"[]", "{}", "x", R"([{"retryCount":"2"}])", R"([{"retryCount":-5}])",
                             R"([{}])", R"([3])"}) {
    EXPECT_EQ(retry_count({{kRedeliveryStamp, stamps}}), 0) << stamps;
  }
  EXPECT_GT(retry_count({{kRedeliveryStamp, R"([{"retryCount":99999999999}])"}}), 1000);
}

TEST(SymfonyStamps, OneMoreIsAddedAtTheEnd) {
  Headers headers;
  add_stamp(headers, kDelayStamp, {{"delay", 1000}});
  add_stamp(headers, kDelayStamp, {{"delay", 5000}});
  EXPECT_EQ(headers, (Headers{{kDelayStamp, R"([{"delay":1000},{"delay":5000}])"}}));
}

TEST(SymfonyStamps, WhatStoodInTheWayOfAStampIsKept) {
  Headers headers{{kDelayStamp, R"({"delay":1})"}};
  add_stamp(headers, kDelayStamp, {{"delay", 2}});
  EXPECT_EQ(headers[kDelayStamp], R"([{"delay":2}])");
  EXPECT_EQ(headers[R"(X-Errand-Bad-Stamp-Symfony\Component\Messenger\Stamp\DelayStamp)"],
            R"({"delay":1})");
}

TEST(SymfonyStamps, TheFirstAndTheLatestNineStay) {
  Headers headers;
  for (int i = 0; i < 14; ++i) add_stamp(headers, kDelayStamp, {{"delay", i}});
  cut_stamps(headers, kDelayStamp);
  EXPECT_EQ(headers[kDelayStamp],
            R"([{"delay":0},{"delay":5},{"delay":6},{"delay":7},{"delay":8},{"delay":9},)"
            R"({"delay":10},{"delay":11},{"delay":12},{"delay":13}])");
}

TEST(SymfonyStamps, AStampThatIsNoArrayIsFoundAndSetAside) {
  Headers headers{{"X-Message-Stamp-App\\A", R"([{"a":1}])"},
                  {"X-Message-Stamp-App\\B", R"({"b":1})"},
                  {"X-Message-Stamp-App\\C", "broken"},
                  {"X-Other", "{"}};
  EXPECT_EQ(find_bad_stamp(headers), "X-Message-Stamp-App\\B");
  set_bad_stamps_aside(headers);
  EXPECT_EQ(headers, (Headers{{"X-Message-Stamp-App\\A", R"([{"a":1}])"},
                              {"X-Errand-Bad-Stamp-App\\B", R"({"b":1})"},
                              {"X-Errand-Bad-Stamp-App\\C", "broken"},
                              {"X-Other", "{"}}));
}

TEST(SymfonyStamps, TheOldestIdIsTheMessages) {
  Headers headers;
  EXPECT_EQ(message_id(headers), std::nullopt);
  headers[kMessageIdStamp] = R"([{"id":1},{"id":"1794768428077-0"}])";
  EXPECT_EQ(message_id(headers), "1");
  headers[kMessageIdStamp] = R"([{"id":"1794768428077-0"},{"id":2}])";
  EXPECT_EQ(message_id(headers), "1794768428077-0");
  for (const char* bad :
       {"broken", "[]", "[{}]", R"([{"id":""}])", R"([{"id":"a\nb"}])", R"([{"id":{}}])"}) {
    headers[kMessageIdStamp] = bad;
    EXPECT_EQ(message_id(headers), std::nullopt) << bad;
    note_message_id(headers, "3");
    EXPECT_EQ(headers[kMessageIdStamp], bad) << "what PHP wrote is not ours to change";
  }
}

}  // namespace
}  // namespace errand::detail
