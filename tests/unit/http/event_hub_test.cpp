#include "http/event_hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace errand::http {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Change> change_of(const std::vector<TaskId>& tasks, bool more) {
  auto change = std::make_shared<Change>();
  change->kind = Change::Kind::tasks;
  change->tasks = tasks;
  for (const TaskId id : tasks) change->items.push_back("\"" + id.to_string() + "\"");
  change->more = more;
  change->frame = "event: tasks\n\n";
  return change;
}

class SubscriberTest : public ::testing::Test {
 protected:
  asio::io_context loop;
  TaskId watched = TaskId::generate();
  Subscriber to_all{loop, {.stats = false, .tasks = true}};
  Subscriber to_one{loop, {.stats = false, .tasks = true, .only = {watched}}};
};

TEST_F(SubscriberTest, WhoDoesNotReadIsToldThatItMissedSome) {
  for (int i = 0; i < 1000; ++i) to_all.offer(change_of({watched}, false));
  EXPECT_LE(to_all.frames.size(), 64U);
  EXPECT_THAT(*to_all.frames.front(), HasSubstr(R"({"items":[],"more":true})"));
}

TEST_F(SubscriberTest, WhoListensToOneTaskHearsOfThatOneAlone) {
  to_one.offer(change_of({TaskId::generate()}, false));
  EXPECT_TRUE(to_one.frames.empty());
  to_one.offer(change_of({TaskId::generate(), watched}, false));
  ASSERT_EQ(to_one.frames.size(), 1U);
  EXPECT_THAT(*to_one.frames.front(),
              HasSubstr("{\"items\":[\"" + watched.to_string() + "\"],\"more\":false}"));
}

TEST_F(SubscriberTest, WhoListensToOneTaskIsToldThatMoreHasChanged) {
  to_one.offer(change_of({}, true));
  ASSERT_EQ(to_one.frames.size(), 1U);
  EXPECT_THAT(*to_one.frames.front(), HasSubstr(R"({"items":[],"more":true})"));
}

}  // namespace
}  // namespace errand::http
