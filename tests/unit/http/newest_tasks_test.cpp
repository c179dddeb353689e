#include "http/newest_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace errand::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TaskId kA = TaskId::generate();
const TaskId kB = TaskId::generate();
const TaskId kC = TaskId::generate();
const TaskId kD = TaskId::generate();

TEST(NewestTasks, TheFirstListTellsNothing) {
  NewestTasks newest;
  EXPECT_THAT(newest.deleted({kC, kB, kA}, true), IsEmpty());
}

TEST(NewestTasks, ATaskBeforeOneThatIsStillThereWasDeleted) {
  NewestTasks newest;
  static_cast<void>(newest.deleted({kC, kB, kA}, false));
  EXPECT_THAT(newest.deleted({kD, kC, kA}, false), ElementsAre(kB));
  EXPECT_THAT(newest.deleted({kD, kC, kA}, false), IsEmpty()) << "it is told once";
}

TEST(NewestTasks, ATaskThatNewerOnesPushedOutIsNotCalledDeleted) {
  NewestTasks newest;
  static_cast<void>(newest.deleted({kB, kA}, false));
  EXPECT_THAT(newest.deleted({kC, kB}, false), IsEmpty());
  EXPECT_THAT(newest.deleted({kD}, false), IsEmpty());
}

TEST(NewestTasks, WhereTheListIsWholeWhatIsMissingWasDeleted) {
  NewestTasks newest;
  static_cast<void>(newest.deleted({kB, kA}, true));
  EXPECT_THAT(newest.deleted({kC}, true), ElementsAre(kB, kA));
}

}  // namespace
}  // namespace errand::http
