#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "errand/message_consumer.hpp"
#include "errand/testing/child_process.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/dying_transport.hpp"
#include "support/temp_dir.hpp"

namespace errand::testing {

/// What the handler of the killed process did, and where the process was killed.
struct Death {
  const char* name;
  bool handler_fails;
  int max_retries;
  KillPoint async;      ///< in the transport that is consumed
  KillPoint elsewhere;  ///< in a failure transport of another storage
};

inline void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

/// A consumer whose process is killed at a point, and one that comes after it.
class KilledConsumer : public ::testing::TestWithParam<Death> {
 protected:
  /// One storage has the messages, the other one what failed.
  enum class Place : std::uint8_t { app, elsewhere };
  [[nodiscard]] virtual std::unique_ptr<Transport> open(Place place, const std::string& queue) = 0;
  virtual void pass_time(std::chrono::milliseconds time) { clock.advance(time); }

  /// Until no message is due; `death`: in a process that is killed there.
  void consume(const Death& death, bool dies) {
    const auto async = open(Place::app, "async");
    const auto failed = open(Place::elsewhere, "failed");
    DyingTransport dying{*async, dies ? death.async : KillPoint{}};
    DyingTransport dying_elsewhere{*failed, dies ? death.elsewhere : KillPoint{}};
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
        {{&dying,
          &dying_elsewhere,
          {.max_retries = death.max_retries, .delay = std::chrono::seconds{0}}}},
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
  EXPECT_GE(times_handled(), 1U);
  const std::size_t dead_letters = open(Place::elsewhere, "failed")->list(10, 0).size();
  if (!death.handler_fails) {
    EXPECT_EQ(dead_letters, 0U);
  } else {
    // Written twice if it died between the dead letter and the end of the message.
    EXPECT_GE(dead_letters, 1U);
    EXPECT_LE(dead_letters, 2U);
  }
}

inline auto all_deaths() {
  return ::testing::Values(Death{"AfterReceiving", false, 0, {"receive", true}, {}},
                           Death{"InTheHandler", false, 0, {}, {}},
                           Death{"BeforeTheAck", false, 0, {"settle", false}, {}},
                           Death{"AfterTheAck", false, 0, {"settle", true}, {}},
                           Death{"BeforeTheRetryIsWritten", true, 1, {"settle", false}, {}},
                           Death{"AfterTheRetryIsWritten", true, 1, {"settle", true}, {}},
                           Death{"BeforeTheDeadLetterIsWritten", true, 0, {}, {"send", false}},
                           Death{"BetweenTheDeadLetterAndTheEnd", true, 0, {}, {"send", true}},
                           Death{"AfterTheDeadLetterAndTheEnd", true, 0, {"settle", true}, {}});
}

inline std::string death_name(const ::testing::TestParamInfo<Death>& death) {
  return death.param.name;
}

}  // namespace errand::testing
