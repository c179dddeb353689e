#include "client/completion_waiter.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/printing.hpp"

#include "support/counting_engine.hpp"
#include "support/milestone.hpp"
#include "support/sqlite_file.hpp"
#include "support/told_engine.hpp"

namespace errand::detail {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::Call;
using testing::CountingEngine;
using testing::ForwardingEngine;
using testing::Milestone;
using testing::SqliteFile;
using testing::ToldEngine;

TEST(ReadGap, IsNothingForAFewAndTheWholeIntervalForThousands) {
  constexpr milliseconds kInterval{100};
  EXPECT_EQ(read_gap(0, kInterval), microseconds{0});
  EXPECT_EQ(read_gap(1, kInterval), microseconds{20});
  EXPECT_EQ(read_gap(2500, kInterval), milliseconds{50});
  EXPECT_EQ(read_gap(5000, kInterval), milliseconds{100});
  EXPECT_EQ(read_gap(10'000, kInterval), milliseconds{100});
  EXPECT_EQ(read_gap(10'000, milliseconds{0}), microseconds{0});
  EXPECT_EQ(read_gap(10'000'000, hours{24}), hours{24}) << "no overflow";
}

TaskId submit(Engine& engine) {
  const NewTask task{.envelope = Envelope{"a.type", "1"}};
  engine.queue().submit({&task, 1});
  return task.id;
}

void complete_all(Engine& engine) {
  const ClaimBatch batch = engine.queue().claim(
      {.queues = {kDefaultQueue}, .limit = 100, .worker = "w", .lease = hours{1}});
  std::vector<Settlement> settlements;
  settlements.reserve(batch.claims.size());
  for (const Claim& claim : batch.claims) settlements.push_back({claim.lease, Completed{"1"}});
  engine.queue().settle(settlements);
}

/// Signals of which none ever comes.
class SilentSignals final : public Signals {
 public:
  explicit SilentSignals(bool reaches) : reaches_{reaches} {}
  Subscription subscribe(Signal /*signal*/, Callback /*callback*/) override { return {}; }
  bool reaches_other_processes() const noexcept override { return reaches_; }

 private:
  bool reaches_;
};

class SilentEngine final : public CountingEngine {
 public:
  SilentEngine(std::unique_ptr<Engine> next, bool reaches)
      : CountingEngine{std::move(next)}, signals_{reaches} {}
  Signals& signals() noexcept override { return signals_; }

 private:
  SilentSignals signals_;
};

/// What a callback was told.
struct Told {
  Milestone called;
  std::optional<Finish> finish;
  std::exception_ptr error;

  CompletionWaiter::Callback callback() {
    return [this](const Finish* told, std::exception_ptr why) {
      if (told != nullptr) finish = *told;
      error = std::move(why);
      called.reach();
    };
  }
};

/// A task that nobody knows, added now, is asked for after whatever was to be asked before.
void let_it_ask(CompletionWaiter& waiter) {
  Told probe;
  waiter.add(TaskId::generate(), probe.callback());
  ASSERT_TRUE(probe.called.was_reached());
}

TEST(CompletionWaiter, TellsWhatAlreadyIsFinished) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  const TaskId id = submit(engine);
  complete_all(engine);
  Told told;
  CompletionWaiter waiter{engine, {}};
  waiter.add(id, told.callback());
  ASSERT_TRUE(told.called.was_reached());
  ASSERT_TRUE(told.finish);
  EXPECT_EQ(told.finish->id, id);
  EXPECT_EQ(told.finish->status, TaskStatus::completed);
  EXPECT_EQ(told.finish->result, "1");
}

TEST(CompletionWaiter, ASignalThatIsLostIsMadeUpForByLooking) {
  const SqliteFile file;
  SilentEngine engine{file.open(), true};
  const TaskId id = submit(engine);
  Told told;
  CompletionWaiter waiter{
      engine, {.poll_interval = milliseconds{1}, .fallback_interval = milliseconds{20}}};
  waiter.add(id, told.callback());
  ASSERT_TRUE(engine.was_called(Call::finished));
  complete_all(engine);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, WhereSignalsCannotComeThePollIntervalRules) {
  const SqliteFile file;
  SilentEngine engine{file.open(), false};
  const TaskId id = submit(engine);
  Told told;
  CompletionWaiter waiter{engine,
                          {.poll_interval = milliseconds{5}, .fallback_interval = hours{1}}};
  waiter.add(id, told.callback());
  ASSERT_TRUE(engine.was_called(Call::finished));
  complete_all(engine);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, ASignalOfThisProcessEndsTheWaitAtOnce) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  const TaskId id = submit(engine);
  Told told;
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  waiter.add(id, told.callback());
  ASSERT_TRUE(engine.was_called(Call::finished));
  complete_all(engine);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, SignalsOfOthersTasksCauseNoReads) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  std::vector<TaskId> others;
  others.reserve(10);
  for (int i = 0; i < 10; ++i) others.push_back(submit(engine));
  complete_all(engine);
  const TaskId mine = submit(engine);
  Told told;
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  waiter.add(mine, told.callback());
  ASSERT_TRUE(engine.was_called(Call::finished));
  for (const TaskId& id : others) ASSERT_EQ(engine.queue().discard({&id, 1}), 1U);
  let_it_ask(waiter);
  EXPECT_EQ(engine.calls(Call::finished), 2U);
}

using Steady = std::chrono::steady_clock;
using By = CompletionWaiter::By;

TEST(CompletionWaiter, ATaskSubmittedAfterTheLastSignalIsLookedForWhenItsOwnComes) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  let_it_ask(waiter);
  const auto submitted = Steady::now();
  const TaskId id = submit(engine);
  Told told;
  EXPECT_FALSE(waiter.add(id, told.callback(), By::waiter, submitted).looks);
  let_it_ask(waiter);
  EXPECT_EQ(engine.calls(Call::finished), 2U) << "for the other ones only";
  complete_all(engine);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, ATaskSubmittedBeforeTheLastSignalIsLookedForAtOnce) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  let_it_ask(waiter);
  const auto submitted = Steady::now();
  const TaskId id = submit(engine);
  complete_all(engine);
  Told told;
  EXPECT_TRUE(waiter.add(id, told.callback(), By::waiter, submitted).looks);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, AFinishThatComesWithASignalNeedsNoLook) {
  const SqliteFile file;
  ToldEngine engine{file.open()};
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  let_it_ask(waiter);
  const TaskId id = submit(engine);
  Told first;
  Told second;
  Told other;
  waiter.add(id, first.callback(), By::whoever, Steady::now());
  waiter.add(id, second.callback(), By::whoever, Steady::now());
  waiter.add(submit(engine), other.callback(), By::whoever, Steady::now());
  engine.tell(Finish{.id = id, .result = "7"});
  for (Told* told : {&first, &second}) {
    ASSERT_EQ(told->called.times(), 1U) << "by the thread that told";
    ASSERT_TRUE(told->finish);
    EXPECT_EQ(told->finish->result, "7");
  }
  engine.tell(Finish{.id = id, .result = "8"});
  EXPECT_EQ(first.called.times(), 1U);
  EXPECT_EQ(other.called.times(), 0U);
  EXPECT_EQ(engine.calls(Call::finished), 1U) << "for the first one only";
}

TEST(CompletionWaiter, ACallbackThatMayDoAnythingIsCalledByTheWaiterNevertheless) {
  const SqliteFile file;
  ToldEngine engine{file.open()};
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  let_it_ask(waiter);
  const TaskId id = submit(engine);
  Told quick;
  Told slow;
  waiter.add(id, quick.callback(), By::whoever, Steady::now());
  waiter.add(id, slow.callback(), By::waiter, Steady::now());
  complete_all(engine);
  engine.tell(Finish{.id = id, .result = "7"});
  EXPECT_EQ(quick.called.times(), 1U);
  ASSERT_TRUE(slow.called.was_reached());
  EXPECT_EQ(slow.finish->result, "1") << "what is stored";
}

TEST(CompletionWaiter, ATaskSubmittedBeforeSignalsWereHeardIsLookedForAtOnce) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  const auto submitted = Steady::now();
  const TaskId id = submit(engine);
  complete_all(engine);
  Told told;
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  EXPECT_TRUE(waiter.add(id, told.callback(), By::waiter, submitted).looks);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, LooksForATaskOfWhichTheSignalIsLost) {
  const SqliteFile file;
  SilentEngine engine{file.open(), true};
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  let_it_ask(waiter);
  const auto submitted = Steady::now();
  const TaskId id = submit(engine);
  complete_all(engine);
  Told told;
  EXPECT_FALSE(waiter.add(id, told.callback(), By::waiter, submitted).looks);
  let_it_ask(waiter);
  EXPECT_EQ(told.called.times(), 0U);
  waiter.look_for(id);
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, WhereSignalsCannotComeATaskIsLookedForAtOnce) {
  const SqliteFile file;
  SilentEngine engine{file.open(), false};
  CompletionWaiter waiter{engine, {.poll_interval = hours{1}}};
  let_it_ask(waiter);
  Told told;
  EXPECT_TRUE(waiter.add(submit(engine), told.callback(), By::waiter, Steady::now()).looks);
}

TEST(CompletionWaiter, ARemovedCallbackIsNotCalled) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  const TaskId id = submit(engine);
  Told removed;
  Told kept;
  CompletionWaiter waiter{engine, {.fallback_interval = hours{1}}};
  const auto ticket = waiter.add(id, removed.callback()).ticket;
  waiter.add(id, kept.callback());
  waiter.remove(id, ticket);
  complete_all(engine);
  ASSERT_TRUE(kept.called.was_reached());
  EXPECT_EQ(removed.called.times(), 0U);
}

TEST(CompletionWaiter, ACallbackMayWaitForAnotherTask) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  const TaskId first = submit(engine);
  const TaskId second = submit(engine);
  complete_all(engine);
  Told told;
  CompletionWaiter waiter{engine, {}};
  waiter.add(first, [&](const Finish*, const std::exception_ptr&) {
    waiter.add(second, told.callback());
  });
  EXPECT_TRUE(told.called.was_reached());
}

TEST(CompletionWaiter, TellsThoseStillWaitingThatItEnds) {
  const SqliteFile file;
  CountingEngine engine{file.open()};
  Told told;
  {
    CompletionWaiter waiter{engine, {}};
    waiter.add(submit(engine), told.callback());
  }
  ASSERT_EQ(told.called.times(), 1U);
  EXPECT_FALSE(told.finish);
  EXPECT_THROW(std::rethrow_exception(told.error), Error);
}

}  // namespace
}  // namespace errand::detail
