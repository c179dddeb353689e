#include <boost/describe/class.hpp>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "errand/application.hpp"

#include "support/milestone.hpp"
#include "support/sqlite_file.hpp"

namespace shop {

struct Meet {
  using Result = std::string;
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(Meet, (), (number))

}  // namespace shop

namespace errand {
namespace {

using testing::kPatience;
using testing::Milestone;
using testing::SqliteFile;

WorkerOptions one_at_a_time() {
  WorkerOptions options;
  options.concurrency = 1;
  return options;
}

TEST(BackgroundWorker, TwoOfThemShareTheWorkOfOneProcess) {
  const SqliteFile file;
  Application app{file.dsn()};
  Milestone met;
  // Neither ends before both run, which takes two workers that run one task at a time.
  app.handle<shop::Meet>("meet", [&](const shop::Meet&) {
    met.reach();
    return std::string{met.was_reached(2) ? "met" : "alone"};
  });
  const BackgroundWorker first{app, one_at_a_time()};
  const BackgroundWorker second{app, one_at_a_time()};
  const auto futures = app.tasks().submit_all(std::vector<shop::Meet>(2));
  for (const auto& future : futures) EXPECT_EQ(future.get(kPatience), "met");
}

TEST(BackgroundWorker, FinishesWhatItRunsWhenItIsDestroyed) {
  const SqliteFile file;
  Application app{file.dsn()};
  Milestone started;
  Milestone release;
  app.handle<shop::Meet>("meet", [&](const shop::Meet&) {
    started.reach();
    return std::string{release.was_reached() ? "finished" : "forgotten"};
  });
  const auto future = app.tasks().submit(shop::Meet{1});
  {
    const BackgroundWorker worker{app, one_at_a_time()};
    ASSERT_TRUE(started.was_reached());
    release.reach();
  }
  EXPECT_EQ(future.status(), TaskStatus::completed);
  EXPECT_EQ(future.get(), "finished");
}

TEST(BackgroundWorker, AnotherProcessesTasksAreServedToo) {
  const SqliteFile file;
  Application server{file.dsn()};
  server.handle<shop::Meet>(
      "meet", [](const shop::Meet& task) { return "served " + std::to_string(task.number); });
  const BackgroundWorker worker{server};
  Application client{file.dsn()};
  client.message<shop::Meet>("meet");
  EXPECT_EQ(client.tasks().submit(shop::Meet{7}).get(kPatience), "served 7");
}

}  // namespace
}  // namespace errand
