#include "http/failure_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace errand::http {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

FailureGroups::Failure failure(const std::string& id, seconds at) {
  return {.type = "t", .error_class = "e", .message = "order " + id, .at = Timestamp{at}, .id = id};
}

std::string json_of(FailureGroups::Order order,
                    std::initializer_list<FailureGroups::Failure> added) {
  FailureGroups groups{order};
  for (const FailureGroups::Failure& one : added) groups.add(one);
  return groups.to_json("id", 9, 9);
}

TEST(FailureGroups, TheLatestIsShownWhicheverWayTheyCome) {
  for (const auto order :
       {FailureGroups::Order::newest_first, FailureGroups::Order::oldest_first}) {
    EXPECT_THAT(json_of(order, {failure("1", seconds{10}), failure("2", seconds{20})}),
                HasSubstr(R"("id":"2")"));
    EXPECT_THAT(json_of(order, {failure("2", seconds{20}), failure("1", seconds{10})}),
                HasSubstr(R"("id":"2")"));
  }
}

TEST(FailureGroups, OfOneMomentTheOrderTellsWhichIsTheNewest) {
  const auto first = failure("1", seconds{10});
  const auto second = failure("2", seconds{10});
  EXPECT_THAT(json_of(FailureGroups::Order::newest_first, {first, second}),
              HasSubstr(R"("count":2)"));
  EXPECT_THAT(json_of(FailureGroups::Order::newest_first, {first, second}),
              HasSubstr(R"("id":"1")"));
  EXPECT_THAT(json_of(FailureGroups::Order::oldest_first, {first, second}),
              HasSubstr(R"("id":"2")"));
}

}  // namespace
}  // namespace errand::http
