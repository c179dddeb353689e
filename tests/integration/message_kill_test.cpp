#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "errand/message_consumer.hpp"
#include "errand/sqlite.hpp"
#include "errand/testing/child_process.hpp"
#include "errand/testing/fake_clock.hpp"

#include "support/dying_transport.hpp"
#include "support/temp_dir.hpp"

namespace errand::testing {
namespace {

using std::chrono::seconds;

/// What the handler of the killed process did, and where the process was killed.
struct Death {
  const char* name;
  bool handler_fails;
  int max_retries;
  KillPoint async;      ///< in the transport that is consumed
  KillPoint elsewhere;  ///< in a failure transport of another storage
};

void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

class KilledConsumer : public ::testing::TestWithParam<Death> {
 protected:
  [[nodiscard]] std::unique_ptr<Transport> open(const std::string& file,
                                                const std::string& queue) const {
    TransportOptions options;
    options.clock = &clock;
    return open_sqlite_transport(
        Dsn{"sqlite://" + (directory / file).string() + "?synchronous=normal&queue_name=" + queue},
        options);
  }

  /// Until no message is due; `death`: in a process that is killed there.
  void consume(const Death& death, bool dies) {
    const auto async = open("app.db", "async");
    const auto failed = open("elsewhere.db", "failed");
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
        {{&dying, &dying_elsewhere, {.max_retries = death.max_retries, .delay = seconds{0}}}},
        handlers,
        options};
    consumer.run({});
  }

  [[nodiscard]] std::size_t times_handled() const {
    std::ifstream file{directory / "handled"};
    return std::string{std::istreambuf_iterator<char>{file}, {}}.size();
  }

  TempDir directory;
  FakeClock clock;
};

TEST_P(KilledConsumer, LosesNothing) {
  const Death& death = GetParam();
  {
    ChildProcess sender{[&] {
      const Outgoing message{.message = {.body = "{}", .headers = {{"type", "X"}}}};
      open("app.db", "async")->send({&message, 1});
    }};
    ASSERT_EQ(sender.wait(), 0);
  }
  ChildProcess killed{[&] { consume(death, true); }};
  const int status = killed.wait();
  ASSERT_TRUE(WIFSIGNALED(status)) << "it came to its end without passing the point";
  ASSERT_EQ(WTERMSIG(status), SIGKILL);

  clock.advance(std::chrono::hours{1} + seconds{1});
  consume(death, false);
  EXPECT_TRUE(open("app.db", "async")->list(10, 0).empty());
  EXPECT_GE(times_handled(), 1U);
  const std::size_t dead_letters = open("elsewhere.db", "failed")->list(10, 0).size();
  if (!death.handler_fails) {
    EXPECT_EQ(dead_letters, 0U);
  } else {
    // Written twice if it died between the dead letter and the end of the message.
    EXPECT_GE(dead_letters, 1U);
    EXPECT_LE(dead_letters, 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    At, KilledConsumer,
    ::testing::Values(Death{"AfterReceiving", false, 0, {"receive", true}, {}},
                      Death{"InTheHandler", false, 0, {}, {}},
                      Death{"BeforeTheAck", false, 0, {"settle", false}, {}},
                      Death{"AfterTheAck", false, 0, {"settle", true}, {}},
                      Death{"BeforeTheRetryIsWritten", true, 1, {"settle", false}, {}},
                      Death{"AfterTheRetryIsWritten", true, 1, {"settle", true}, {}},
                      Death{"BeforeTheDeadLetterIsWritten", true, 0, {}, {"send", false}},
                      Death{"BetweenTheDeadLetterAndTheEnd", true, 0, {}, {"send", true}},
                      Death{"AfterTheDeadLetterAndTheEnd", true, 0, {"settle", true}, {}}),
    [](const ::testing::TestParamInfo<Death>& death) { return std::string{death.param.name}; });

}  // namespace
}  // namespace errand::testing
