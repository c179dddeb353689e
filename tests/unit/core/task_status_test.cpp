#include "errand/task_status.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

namespace errand {
namespace {

using S = TaskStatus;
using E = TaskEvent;

constexpr auto kNone = std::nullopt;

/// What must come of every event in every status, written down apart from the table under test.
const std::map<S, std::map<E, std::optional<S>>> kExpected{
    {S::pending,
     {{E::claim, S::running},
      {E::complete, kNone},
      {E::fail, kNone},
      {E::retry, kNone},
      {E::rescue, kNone},
      {E::release, kNone},
      {E::cancel, S::cancelled},
      {E::requeue, kNone}}},
    {S::running,
     {{E::claim, kNone},
      {E::complete, S::completed},
      {E::fail, S::failed},
      {E::retry, S::retrying},
      {E::rescue, S::retrying},
      {E::release, S::retrying},
      {E::cancel, S::cancelled},
      {E::requeue, kNone}}},
    {S::retrying,
     {{E::claim, S::running},
      {E::complete, kNone},
      {E::fail, kNone},
      {E::retry, kNone},
      {E::rescue, kNone},
      {E::release, kNone},
      {E::cancel, S::cancelled},
      {E::requeue, kNone}}},
    {S::completed,
     {{E::claim, kNone},
      {E::complete, kNone},
      {E::fail, kNone},
      {E::retry, kNone},
      {E::rescue, kNone},
      {E::release, kNone},
      {E::cancel, kNone},
      {E::requeue, kNone}}},
    {S::failed,
     {{E::claim, kNone},
      {E::complete, kNone},
      {E::fail, kNone},
      {E::retry, kNone},
      {E::rescue, kNone},
      {E::release, kNone},
      {E::cancel, kNone},
      {E::requeue, S::pending}}},
    {S::cancelled,
     {{E::claim, kNone},
      {E::complete, kNone},
      {E::fail, kNone},
      {E::retry, kNone},
      {E::rescue, kNone},
      {E::release, kNone},
      {E::cancel, kNone},
      {E::requeue, S::pending}}},
};

TEST(TransitionTable, GivesWhatIsExpectedForEveryStatusAndEvent) {
  ASSERT_EQ(kExpected.size(), kAllTaskStatuses.size());
  for (const S from : kAllTaskStatuses) {
    ASSERT_EQ(kExpected.at(from).size(), kAllTaskEvents.size());
    for (const E event : kAllTaskEvents) {
      EXPECT_EQ(next(from, event), kExpected.at(from).at(event))
          << to_string(from) << " + " << to_string(event);
    }
  }
}

TEST(TransitionTable, HasNoRowTwice) {
  std::set<std::pair<S, E>> rows;
  for (const Transition& row : kTransitions) {
    EXPECT_TRUE(rows.emplace(row.from, row.event).second)
        << to_string(row.from) << " + " << to_string(row.event);
  }
}

TEST(TransitionTable, CanBecomeAgreesWithNextForEveryPair) {
  for (const S from : kAllTaskStatuses) {
    for (const S to : kAllTaskStatuses) {
      bool some_event = false;
      for (const E event : kAllTaskEvents) {
        some_event = some_event || kExpected.at(from).at(event) == to;
      }
      EXPECT_EQ(can_become(from, to), some_event) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(TransitionTable, OnlyAnOperatorLeavesAFinalStatus) {
  for (const Transition& row : kTransitions) {
    EXPECT_EQ(is_final(row.from), row.event == E::requeue) << to_string(row.from);
  }
}

TEST(TaskStatus, IsWaitingRunningOrFinal) {
  const std::map<S, std::pair<bool, bool>> waiting_and_final{
      {S::pending, {true, false}},   {S::running, {false, false}}, {S::retrying, {true, false}},
      {S::completed, {false, true}}, {S::failed, {false, true}},   {S::cancelled, {false, true}}};
  for (const S status : kAllTaskStatuses) {
    EXPECT_EQ(is_waiting(status), waiting_and_final.at(status).first) << to_string(status);
    EXPECT_EQ(is_final(status), waiting_and_final.at(status).second) << to_string(status);
  }
}

TEST(TaskStatus, HasTheWordThatIsStored) {
  const std::map<S, std::string> words{{S::pending, "pending"},   {S::running, "running"},
                                       {S::retrying, "retrying"}, {S::completed, "completed"},
                                       {S::failed, "failed"},     {S::cancelled, "cancelled"}};
  for (const S status : kAllTaskStatuses) {
    EXPECT_EQ(to_string(status), words.at(status));
    EXPECT_EQ(parse_task_status(words.at(status)), status);
  }
}

TEST(TaskStatus, ParsesNoOtherWord) {
  for (const char* word : {"", "PENDING", "Pending", "pending ", " pending", "canceled", "done"}) {
    EXPECT_EQ(parse_task_status(word), std::nullopt) << word;
  }
}

TEST(TaskEvent, EveryOneHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (const E event : kAllTaskEvents) words.insert(to_string(event));
  EXPECT_EQ(words.size(), kAllTaskEvents.size());
  EXPECT_EQ(words.count("unknown"), 0U);
}

}  // namespace
}  // namespace errand
