#include "http/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/problem.hpp"

namespace errand::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ParseTarget, SegmentsAreDecodedOneByOne) {
  EXPECT_THAT(parse_target("/").segments, ElementsAre(""));
  EXPECT_THAT(parse_target("/api/queues/a%2Fb+c/pause").segments,
              ElementsAre("api", "queues", "a/b+c", "pause"));
  EXPECT_THAT(parse_target("/a//b/").segments, ElementsAre("a", "", "b", ""));
}

TEST(ParseTarget, ParametersAreDecodedInOrder) {
  EXPECT_THAT(
      parse_target("/t?a=1&b=x+y%2B&&c&=d&a=2#end").parameters,
      ElementsAre(Pair("a", "1"), Pair("b", "x y+"), Pair("c", ""), Pair("", "d"), Pair("a", "2")));
}

TEST(ParseTarget, WhatIsNoPathIsRefused) {
  for (const char* text : {"", "*", "http://a/b", "a", "/%", "/%4", "/%4x", "/%ff", "/%00",
                           "/%0d%0a", "/..", "/a/%2e%2e/b", "/.", "/?a=%c3"}) {
    EXPECT_THROW(static_cast<void>(parse_target(text)), Problem) << text;
  }
}

TEST(MediaType, IsComparedWithoutItsParameters) {
  EXPECT_EQ(media_type("Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(media_type(""), "");
}

}  // namespace
}  // namespace errand::http
