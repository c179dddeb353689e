#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "errand/async_get.hpp"
#include "errand/tasks.hpp"

#include "support/counting_engine.hpp"
#include "support/milestone.hpp"
#include "support/sqlite_file.hpp"
#include "unit/client/messages.hpp"

namespace errand {
namespace {

using std::chrono::duration;
using std::chrono::hours;
using Steady = std::chrono::steady_clock;
using testing::Call;
using testing::CountingEngine;
using testing::Milestone;
using testing::SqliteFile;

constexpr std::size_t kWaiting = 10'000;
constexpr std::chrono::milliseconds kWindow{2000};

std::vector<Claim> claim(Engine& engine, const std::string& queue, std::size_t limit) {
  return engine.queue()
      .claim({.queues = {queue}, .limit = limit, .worker = "w", .lease = hours{1}})
      .claims;
}

void complete(Engine& engine, const Lease& lease) {
  const Settlement settlement{lease, Completed{R"({"number":1})"}};
  engine.queue().settle({&settlement, 1});
}

/// Another process, busy with tasks nobody here waits for: each one is a signal that does not say
/// whom it concerns.
void finish_unrelated_tasks(Engine& engine, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const NewTask task{.envelope = Envelope{"other.type", "1"}, .queue = "other"};
    engine.queue().submit({&task, 1});
    for (const Claim& claimed : claim(engine, "other", 1)) complete(engine, claimed.lease);
  }
}

// The tests of this suite take their time: a rate has to be measured.
class WaitingRate : public ::testing::Test {
 protected:
  WaitingRate() { messages_.add<shop::Charge>("card.charge"); }

  /// Lets `disturb` run while 10,000 futures wait, and counts the reads of the storage. `disturb`
  /// gets claims of `finished` of the tasks, and finishes them.
  template <class Disturb>
  void expect_few_reads(std::size_t finished, Disturb&& disturb) {
    Milestone success;
    Milestone ended;
    {
      Tasks tasks{engine, messages_, exceptions_};
      const auto futures = tasks.submit_all(std::vector<shop::Charge>(kWaiting));
      for (const auto& future : futures) {
        future.async_get([&](const std::exception_ptr& error, const shop::Receipt&) {
          if (!error) success.reach();
          ended.reach();
        });
      }
      const std::vector<Claim> awaited = claim(*other_process, kDefaultQueue, finished);
      ASSERT_EQ(awaited.size(), finished);
      ASSERT_TRUE(engine.was_called(Call::finished));

      const auto start = Steady::now();
      const std::size_t reads_before = engine.calls(Call::finished);
      disturb(awaited);
      const std::size_t reads = engine.calls(Call::finished) - reads_before;
      const double seconds = duration<double>{Steady::now() - start}.count();
      EXPECT_LE(static_cast<double>(reads), 10 * seconds + 1) << "in " << seconds << " s";
      EXPECT_TRUE(success.was_reached(finished)) << "the finished ones must arrive";
    }
    EXPECT_TRUE(ended.was_reached(kWaiting)) << "every wait ends, with the client if not before";
    EXPECT_EQ(ended.times(), kWaiting);
    EXPECT_EQ(success.times(), finished);
  }

  SqliteFile file;
  CountingEngine engine{file.open()};
  std::unique_ptr<Engine> other_process = file.open();

 private:
  MessageTypes messages_;
  ExceptionTypes exceptions_;
};

TEST_F(WaitingRate, TenThousandFuturesCostAtMostTenReadsASecondWhileAnotherProcessWorks) {
  constexpr std::size_t kFinished = 20;
  expect_few_reads(kFinished, [&](const std::vector<Claim>& awaited) {
    const std::jthread unrelated{
        [&](const std::stop_token& stop) { finish_unrelated_tasks(*other_process, stop); }};
    for (const Claim& claimed : awaited) {
      complete(*other_process, claimed.lease);
      std::this_thread::sleep_for(kWindow / kFinished);
    }
  });
}

TEST_F(WaitingRate, TenThousandFuturesCostAtMostTenReadsASecondWhileTheyAreFinishedOneByOne) {
  // Each one is a signal that names its task, and a cheap read if nothing held it back.
  constexpr std::size_t kFinished = 200;
  expect_few_reads(kFinished, [&](const std::vector<Claim>& awaited) {
    for (const Claim& claimed : awaited) {
      complete(engine, claimed.lease);
      std::this_thread::sleep_for(kWindow / kFinished);
    }
  });
}

}  // namespace
}  // namespace errand
