#include "client/submit_batcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/printing.hpp"

#include "support/forwarding_queue.hpp"
#include "support/milestone.hpp"
#include "support/watched_thread.hpp"

namespace errand::detail {
namespace {

using ::testing::ElementsAre;
using testing::ForwardingQueue;
using testing::Milestone;
using ::testing::UnorderedElementsAre;
using testing::WatchedThread;

NewTask new_task() { return NewTask{.envelope = Envelope{"a.type", "1"}}; }

/// Keeps the batches it gets. Each one that the test holds back waits until it is let go.
class GatheringQueue final : public ForwardingQueue {
 public:
  GatheringQueue() : ForwardingQueue{nullptr} {}

  std::size_t submit(std::span<const NewTask> tasks) override {
    std::size_t number = 0;
    bool fails = false;
    {
      const std::lock_guard lock{mutex_};
      std::vector<TaskId> ids;
      ids.reserve(tasks.size());
      for (const NewTask& task : tasks) ids.push_back(task.id);
      batches_.push_back(std::move(ids));
      number = batches_.size();
      fails = number == failing_;
    }
    entered.reach();
    if (number <= held_back_ && !released.was_reached(number)) {
      throw std::logic_error{"nobody let the batch go"};
    }
    if (fails) {
      throw StorageException{"batch " + std::to_string(number) + " failed",
                             StorageException::Retry::helps};
    }
    return tasks.size();
  }

  std::size_t submits_at_a_time() const noexcept override { return at_a_time_; }

  void hold_back(std::size_t batches) { held_back_ = batches; }
  void take_at_a_time(std::size_t batches) { at_a_time_ = batches; }
  void fail_batch(std::size_t number) {
    const std::lock_guard lock{mutex_};
    failing_ = number;
  }

  [[nodiscard]] std::vector<std::vector<TaskId>> batches() {
    const std::lock_guard lock{mutex_};
    return batches_;
  }

  Milestone entered;   ///< once for each batch
  Milestone released;  ///< reached n times: the batches up to the n-th go on

 private:
  std::size_t held_back_ = 0;
  std::size_t at_a_time_ = 1;
  std::mutex mutex_;
  std::vector<std::vector<TaskId>> batches_;
  std::size_t failing_ = 0;
};

/// A thread that submits one task, and how that ended.
class Caller {
 public:
  explicit Caller(SubmitBatcher& batcher)
      : thread_{[this, &batcher] {
          try {
            batcher.submit(task_);
          } catch (const StorageException& error) {
            error_ = error.what();
          }
        }} {}

  [[nodiscard]] TaskId id() const { return task_.id; }
  [[nodiscard]] bool waits() const { return thread_.falls_asleep(); }
  /// The error it got; empty if none.
  [[nodiscard]] std::string join() {
    thread_.join();
    return error_;
  }

 private:
  NewTask task_ = new_task();
  std::string error_;
  WatchedThread thread_;
};

TEST(SubmitBatcher, WritesALoneCallersTaskAtOnce) {
  GatheringQueue queue;
  SubmitBatcher batcher{queue};
  const NewTask first = new_task();
  const NewTask second = new_task();
  batcher.submit(first);
  EXPECT_THAT(queue.batches(), ElementsAre(ElementsAre(first.id)));
  batcher.submit(second);
  EXPECT_THAT(queue.batches(), ElementsAre(ElementsAre(first.id), ElementsAre(second.id)));
}

TEST(SubmitBatcher, PutsCallsThatArriveDuringAFlushIntoOneBatch) {
  GatheringQueue queue;
  queue.hold_back(1);
  SubmitBatcher batcher{queue};
  Caller first{batcher};
  ASSERT_TRUE(queue.entered.was_reached());
  Caller second{batcher};
  Caller third{batcher};
  Caller fourth{batcher};
  ASSERT_TRUE(second.waits() && third.waits() && fourth.waits());
  EXPECT_EQ(queue.batches().size(), 1U) << "a second flush began while the first was under way";

  queue.released.reach();
  for (Caller* caller : {&first, &second, &third, &fourth}) EXPECT_EQ(caller->join(), "");
  EXPECT_THAT(queue.batches(),
              ElementsAre(ElementsAre(first.id()),
                          UnorderedElementsAre(second.id(), third.id(), fourth.id())));
}

TEST(SubmitBatcher, HasAsManyFlushesUnderWayAsTheQueueWants) {
  GatheringQueue queue;
  queue.hold_back(2);
  queue.take_at_a_time(2);
  SubmitBatcher batcher{queue};
  Caller first{batcher};
  ASSERT_TRUE(queue.entered.was_reached(1));
  Caller second{batcher};
  ASSERT_TRUE(queue.entered.was_reached(2)) << "the second waits for the first";
  Caller third{batcher};
  Caller fourth{batcher};
  ASSERT_TRUE(third.waits() && fourth.waits());
  EXPECT_EQ(queue.batches().size(), 2U);

  for (int i = 0; i < 2; ++i) queue.released.reach();
  for (Caller* caller : {&first, &second, &third, &fourth}) EXPECT_EQ(caller->join(), "");
  EXPECT_THAT(queue.batches(), ElementsAre(ElementsAre(first.id()), ElementsAre(second.id()),
                                           UnorderedElementsAre(third.id(), fourth.id())));
}

TEST(SubmitBatcher, ReturnsOnlyWhenTheTaskIsDurable) {
  GatheringQueue queue;
  queue.hold_back(2);
  SubmitBatcher batcher{queue};
  Caller first{batcher};
  ASSERT_TRUE(queue.entered.was_reached(1));
  Caller leader{batcher};
  ASSERT_TRUE(leader.waits());
  Milestone follower_returned;
  const NewTask task = new_task();
  WatchedThread follower{[&] {
    batcher.submit(task);
    follower_returned.reach();
  }};
  ASSERT_TRUE(follower.falls_asleep());
  queue.released.reach();
  ASSERT_TRUE(queue.entered.was_reached(2));
  EXPECT_EQ(first.join(), "");
  EXPECT_EQ(follower_returned.times(), 0U) << "its batch is not stored yet";
  queue.released.reach();
  EXPECT_TRUE(follower_returned.was_reached());
  EXPECT_EQ(leader.join(), "");
}

TEST(SubmitBatcher, TellsAnErrorToEachCallerOfTheFailedBatchAndToNobodyElse) {
  GatheringQueue queue;
  queue.hold_back(2);
  queue.fail_batch(2);
  SubmitBatcher batcher{queue};
  Caller before{batcher};
  ASSERT_TRUE(queue.entered.was_reached(1));
  Caller leader{batcher};
  ASSERT_TRUE(leader.waits());
  Caller follower{batcher};
  ASSERT_TRUE(follower.waits());
  queue.released.reach();
  ASSERT_TRUE(queue.entered.was_reached(2));
  Caller after{batcher};
  ASSERT_TRUE(after.waits());
  queue.released.reach();

  EXPECT_EQ(before.join(), "");
  EXPECT_EQ(leader.join(), "batch 2 failed");
  EXPECT_EQ(follower.join(), "batch 2 failed");
  EXPECT_EQ(after.join(), "");
  EXPECT_THAT(queue.batches(), ElementsAre(ElementsAre(before.id()),
                                           UnorderedElementsAre(leader.id(), follower.id()),
                                           ElementsAre(after.id())));
}

TEST(SubmitBatcher, WorksAgainAfterAnError) {
  GatheringQueue queue;
  queue.fail_batch(1);
  SubmitBatcher batcher{queue};
  EXPECT_THROW(batcher.submit(new_task()), StorageException);
  EXPECT_NO_THROW(batcher.submit(new_task()));
  EXPECT_EQ(queue.batches().size(), 2U);
}

}  // namespace
}  // namespace errand::detail
