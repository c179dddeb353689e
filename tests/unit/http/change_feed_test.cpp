#include "http/change_feed.hpp"

#include <algorithm>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>

#include "support/sqlite_file.hpp"

namespace errand::http {
namespace {

using namespace std::chrono_literals;

/// Collects what is published.
class Published {
 public:
  void add(std::shared_ptr<const Change> change) {
    const std::lock_guard lock{mutex_};
    changes_.push_back(std::move(change));
    more_.notify_all();
  }

  /// The first change, from now or before, for which `wanted` holds.
  std::shared_ptr<const Change> wait_for(const std::function<bool(const Change&)>& wanted,
                                         std::chrono::seconds patience = 60s) {
    std::unique_lock lock{mutex_};
    std::shared_ptr<const Change> found;
    more_.wait_for(lock, patience, [&] {
      for (const auto& change : changes_) {
        if (wanted(*change)) {
          found = change;
          return true;
        }
      }
      return false;
    });
    return found;
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::shared_ptr<const Change>> changes_;
};

class ChangeFeedTest : public ::testing::Test {
 protected:
  TaskId submit() {
    const NewTask task{.envelope = Envelope{"t", "{}"}};
    engine->queue().submit({&task, 1});
    return task.id;
  }

  /// Its first look is what later ones are compared with: a task that is told came after it.
  void until_it_looks() {
    TaskId probe = submit();
    while (!published.wait_for(
        [&](const Change& change) { return is_about(change, Change::Kind::tasks, probe); }, 2s)) {
      probe = submit();
    }
  }

  static bool is_about(const Change& change, Change::Kind kind, TaskId id) {
    return change.kind == kind &&
           std::find(change.tasks.begin(), change.tasks.end(), id) != change.tasks.end();
  }

  errand::testing::SqliteFile file;
  std::unique_ptr<Engine> engine = file.open();
  History history;
  Published published;
  ChangeFeed feed{*engine, history, silent_logger(), [this](std::shared_ptr<const Change> change) {
                    published.add(std::move(change));
                  }};
};

TEST_F(ChangeFeedTest, TheFirstSampleComesWithoutAnybodyListening) {
  EXPECT_TRUE(published.wait_for([](const Change& c) { return c.kind == Change::Kind::stats; }));
  EXPECT_TRUE(feed.last_sample());
  EXPECT_TRUE(feed.last_observation());
}

TEST_F(ChangeFeedTest, AWatchedTaskIsToldOfUntilItIsGone) {
  const TaskId id = submit();
  const ChangeFeed::Interest interest{.stats = true, .tasks = true, .only = {id}};
  feed.listen(interest);
  until_it_looks();
  engine->queue().cancel({&id, 1});
  EXPECT_TRUE(
      published.wait_for([&](const Change& c) { return is_about(c, Change::Kind::tasks, id); }));
  engine->queue().discard({&id, 1});
  EXPECT_TRUE(
      published.wait_for([&](const Change& c) { return is_about(c, Change::Kind::removed, id); }));
  feed.unlisten(interest);
}

}  // namespace
}  // namespace errand::http
