#include "http/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/problem.hpp"

namespace errand::http {
namespace {

using namespace std::chrono_literals;

TEST(Query, ReadsEachKind) {
  const Target target = parse_target("/?a=7&b=true&c=1.5s&d=x,,y&e=");
  const Query query{target, {"a", "b", "c", "d", "e", "f"}};
  EXPECT_EQ(query.integer("a", 1, 7, 3), 7);
  EXPECT_TRUE(query.boolean("b"));
  EXPECT_EQ(query.duration("c", 2s), 1500ms);
  EXPECT_THAT(query.list("d"), ::testing::ElementsAre("x", "y"));
  EXPECT_EQ(query.text("e"), std::nullopt);
  EXPECT_EQ(query.integer("f", 1, 7, 3), 3);
  EXPECT_FALSE(query.boolean("f"));
  EXPECT_EQ(query.duration("f", 2s), 0ms);
}

TEST(Query, RefusesWhatItDoesNotKnowAndWhatComesTwice) {
  const Target unknown = parse_target("/?colour=red");
  EXPECT_THROW((Query{unknown, {"a"}}), Problem);
  EXPECT_THROW((Query{unknown, {}}), Problem);
  const Target twice = parse_target("/?a=1&a=1");
  EXPECT_THROW((Query{twice, {"a"}}), Problem);
}

TEST(Query, RefusesValuesOutOfRange) {
  const Target target = parse_target("/?a=8&b=1&c=3s&d=x&e=7x");
  const Query query{target, {"a", "b", "c", "d", "e"}};
  EXPECT_THROW(static_cast<void>(query.integer("a", 1, 7, 3)), Problem);
  EXPECT_THROW(static_cast<void>(query.integer("e", 1, 7, 3)), Problem);
  EXPECT_THROW(static_cast<void>(query.boolean("b")), Problem);
  EXPECT_THROW(static_cast<void>(query.duration("c", 2s)), Problem);
  EXPECT_THROW(static_cast<void>(query.duration("d", 2s)), Problem);
}

}  // namespace
}  // namespace errand::http
