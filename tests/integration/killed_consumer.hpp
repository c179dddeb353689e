#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "errand/message_consumer.hpp"
#include "errand/testing/child_process.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/dying_transport.hpp"
#include "support/temp_dir.hpp"

namespace errand::testing {

/// One storage has the messages; what failed is there, too, or in another one.
enum class Place : std::uint8_t { app, elsewhere };

/// What the handler of the killed process did, where the process was killed, and what there must be
/// when another one has come after it.
struct Death {
  const char* name;
  bool handler_fails = false;
  int max_retries = 0;
  Place failures = Place::elsewhere;
  KillPoint async{};              ///< in the transport that is consumed
  KillPoint failed{};             ///< in the failure transport
  std::size_t times_handled = 0;  ///< at least
  std::size_t dead_letters = 0;
};

inline void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

/// A consumer whose process is killed at a point, and one that comes after it.
class KilledConsumer : public ::testing::TestWithParam<Death> {
 protected:
  [[nodiscard]] virtual std::unique_ptr<Transport> open(Place place, const std::string& queue) = 0;
  virtual void pass_time(std::chrono::milliseconds time) { clock.advance(time); }

  /// Until no message is due; `death`: in a process that is killed there.
  void consume(const Death& death, bool dies) {
    const auto async = open(Place::app, "async");
    const auto failed = open(death.failures, "failed");
    DyingTransport dying{*async, dies ? death.async : KillPoint{}};
    DyingTransport dying_failed{*failed, dies ? death.failed : KillPoint{}};
    // In one storage both are written together, which a transport does only for one it recognises.
    Transport& failures = death.failures == Place::app ? *failed : dying_failed;
    Handlers handlers;
    handlers.add_raw("X", [&](const Envelope&, TaskContext&) -> std::string {
      std::ofstream{directory / "handled", std::ios::app} << "x";
      if (dies && std::string{death.name} == "InTheHandler") ::raise(SIGKILL);
      if (death.handler_fails) throw std::runtime_error{"boom"};
      return "null";
    });
    MessageConsumerOptions options;
    options.worker.drain = true;
    options.worker.concurrency = 1;
    options.clock = &clock;
    MessageConsumer consumer{
        {{&dying, &failures, {.max_retries = death.max_retries, .delay = std::chrono::seconds{0}}}},
        handlers,
        options};
    consumer.run({});
  }

  [[nodiscard]] std::size_t times_handled() const {
    std::ifstream file{directory / "handled"};
    return std::string{std::istreambuf_iterator<char>{file}, {}}.size();
  }

  void expect_that_nothing_is_lost();

  TempDir directory;
  FakeClock clock;
};

inline void KilledConsumer::expect_that_nothing_is_lost() {
  const Death& death = GetParam();
  {
    ChildProcess sender{[&] {
      const Outgoing message{.message = {.body = "{}", .headers = {{"type", "X"}}}};
      open(Place::app, "async")->send({&message, 1});
    }};
    ASSERT_EQ(sender.wait(), 0);
  }
  ChildProcess killed{[&] { consume(death, true); }};
  const int status = killed.wait();
  ASSERT_TRUE(WIFSIGNALED(status)) << "it came to its end without passing the point";
  ASSERT_EQ(WTERMSIG(status), SIGKILL);

  pass_time(std::chrono::hours{1} + std::chrono::seconds{1});
  consume(death, false);
  EXPECT_TRUE(open(Place::app, "async")->list(10, 0).empty());
  // Once more if the process had time to begin with the retry before it was killed.
  EXPECT_GE(times_handled(), death.times_handled);
  EXPECT_EQ(open(death.failures, "failed")->list(10, 0).size(), death.dead_letters);
}

inline auto all_deaths() {
  constexpr bool kFails = true;
  const KillPoint never{};
  const KillPoint before_settling{"settle", false};
  const KillPoint after_settling{"settle", true};
  const KillPoint before_sending{"send", false};
  const KillPoint after_sending{"send", true};
  const auto works = [&](const char* name, KillPoint at, std::size_t times_handled) {
    return Death{name, !kFails, 0, Place::elsewhere, std::move(at), never, times_handled, 0};
  };
  return ::testing::Values(
      works("AfterReceiving", {"receive", true}, 1), works("InTheHandler", never, 2),
      works("BeforeTheAck", before_settling, 2), works("AfterTheAck", after_settling, 1),
      Death{"BeforeTheRetryIsWritten", kFails, 1, Place::elsewhere, before_settling, never, 3, 1},
      Death{"AfterTheRetryIsWritten", kFails, 1, Place::elsewhere, after_settling, never, 2, 1},
      Death{"BeforeADeadLetterElsewhere", kFails, 0, Place::elsewhere, never, before_sending, 2, 1},
      // The only point at which anything is written twice: two storages have no transaction.
      Death{"BetweenADeadLetterElsewhereAndTheEnd", kFails, 0, Place::elsewhere, never,
            after_sending, 2, 2},
      Death{"AfterADeadLetterElsewhereAndTheEnd", kFails, 0, Place::elsewhere, after_settling,
            never, 1, 1},
      Death{"BeforeADeadLetterBeside", kFails, 0, Place::app, before_settling, never, 2, 1},
      Death{"AfterADeadLetterBeside", kFails, 0, Place::app, after_settling, never, 1, 1},
      Death{"BeforeTheRetryWithFailuresBeside", kFails, 1, Place::app, before_settling, never, 3,
            1},
      Death{"AfterTheRetryWithFailuresBeside", kFails, 1, Place::app, after_settling, never, 2, 1});
}

inline std::string death_name(const ::testing::TestParamInfo<Death>& death) {
  return death.param.name;
}

}  // namespace errand::testing
