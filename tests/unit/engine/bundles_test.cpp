#include "engine/postgres/bundles.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace errand::postgres {
namespace {

class BundlesTest : public ::testing::Test {
 protected:
  /// Of `count` tasks.
  TaskId add(std::size_t count) {
    const TaskId bundle = TaskId::generate();
    std::vector<Bundles::Task> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      tasks.push_back({TaskId::generate(), Tid{7, static_cast<std::uint16_t>(i)}});
      leases.push_back({tasks.back().id, kBundledVersion});
    }
    bundles.add(bundle, tasks);
    return bundle;
  }

  Bundles bundles;
  std::vector<Lease> leases;
};

TEST_F(BundlesTest, KnowsWhereTasksAre) {
  const TaskId bundle = add(2);
  const auto spots = bundles.find(leases);
  ASSERT_TRUE(spots[1]);
  EXPECT_EQ(spots[1]->bundle, bundle);
  EXPECT_EQ(spots[1]->place.block, 7U);
  EXPECT_EQ(spots[1]->place.row, 1);
}

TEST_F(BundlesTest, AnotherAttemptIsNotTheBundles) {
  add(1);
  const Lease later{leases[0].id, kBundledVersion + 2};
  EXPECT_FALSE(bundles.find({&later, 1}).front());
  bundles.forget({&later, 1});
  EXPECT_TRUE(bundles.find(leases).front());
}

TEST_F(BundlesTest, ABundleIsSpentWithItsLastTask) {
  const TaskId bundle = add(2);
  bundles.forget({&leases[0], 1});
  EXPECT_TRUE(bundles.take_spent().empty());
  bundles.forget(leases);
  EXPECT_EQ(bundles.take_spent(), std::vector{bundle});
  EXPECT_TRUE(bundles.take_spent().empty()) << "once";
}

TEST_F(BundlesTest, OneWithoutTasksIsSpentAtOnce) {
  const TaskId bundle = add(0);
  EXPECT_EQ(bundles.take_spent(), std::vector{bundle});
}

TEST_F(BundlesTest, TheOldestIsForgottenWhereNobodySettles) {
  for (int i = 0; i < 1001; ++i) add(1);
  const auto spots = bundles.find(leases);
  EXPECT_FALSE(spots.front());
  EXPECT_TRUE(spots[1]);
  EXPECT_TRUE(bundles.take_spent().empty()) << "it is still held";
}

}  // namespace
}  // namespace errand::postgres
