#include <boost/describe/class.hpp>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "errand/application.hpp"
#include "errand/errors.hpp"
#include "errand/testing/printing.hpp"

#include "support/sqlite_file.hpp"

namespace shop {

struct Double {
  using Result = int;
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(Double, (), (number))

}  // namespace shop

namespace errand {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A worker program, started with arguments.
class RunWorkerTest : public ::testing::Test {
 protected:
  RunWorkerTest() {
    app.handle<shop::Double>("double", [](const shop::Double& task) { return 2 * task.number; });
  }

  int run(const std::vector<const char*>& arguments) {
    std::vector<const char*> argv{"shop-worker"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_worker(app, static_cast<int>(argv.size()), argv.data());
    out = ::testing::internal::GetCapturedStdout();
    err = ::testing::internal::GetCapturedStderr();
    return code;
  }

  testing::SqliteFile file;
  Application app{file.dsn()};
  std::string out;
  std::string err;
};

TEST_F(RunWorkerTest, HelpNamesTheOptions) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* option : {"--queue", "--concurrency", "--lease", "--grace", "--limit",
                             "--time-limit", "--memory-limit", "--failure-limit", "--drain",
                             "--exec", "--exec-timeout", "--log-level"}) {
    EXPECT_THAT(out, HasSubstr(option));
  }
}

TEST_F(RunWorkerTest, AWrongOptionIsAUsageErrorThatNamesIt) {
  const auto expect_usage_error = [&](const std::vector<const char*>& arguments,
                                      const char* named) {
    EXPECT_EQ(run(arguments), 2) << named;
    EXPECT_THAT(err, HasSubstr(named));
  };
  expect_usage_error({"--frobnicate"}, "--frobnicate");
  expect_usage_error({"--lease", "soon"}, "soon");
  expect_usage_error({"--lease", "10ms"}, "the lease is 10 ms");
  expect_usage_error({"--concurrency", "many"}, "many");
  expect_usage_error({"--concurrency", "5000"},
                     "--concurrency: '5000' is not a whole number of 0 to 1024");
  expect_usage_error({"--exec", "thumb.make"}, "TYPE=COMMAND");
  expect_usage_error({"--exec", "=true"}, "TYPE=COMMAND");
  expect_usage_error({"--exec", "thumb.make="}, "TYPE=COMMAND");
  expect_usage_error({"--exec", "double=true"}, "double");
  expect_usage_error({"--log-level", "loud"}, "loud");
}

TEST_F(RunWorkerTest, HelpIsLaidOutAsThatOfTheProgram) {
  EXPECT_EQ(run({"-h"}), 0);
  EXPECT_THAT(out, AllOf(StartsWith("Run tasks until stopped\n\nUsage: shop-worker [OPTION]…\n"),
                         HasSubstr("--lease TIME"), HasSubstr("TIME is 500ms, 5s"),
                         HasSubstr("Examples:\n  shop-worker --queue mail,default")));
}

TEST_F(RunWorkerTest, AUsageErrorIsOneSentenceWithTheNextStep) {
  EXPECT_EQ(run({"--conccurrency", "2"}), 2);
  EXPECT_EQ(err,
            "shop-worker: shop-worker has no option '--conccurrency'; did you mean "
            "'--concurrency'? See: shop-worker --help\n");
  EXPECT_EQ(run({"--queue"}), 2);
  EXPECT_EQ(err, "shop-worker: --queue needs a value: --queue QUEUE. See: shop-worker --help\n");
}

TEST_F(RunWorkerTest, DrainRunsWhatIsDueAndEnds) {
  const auto first = app.tasks().submit(shop::Double{21});
  const auto second = app.tasks().submit(shop::Double{4});
  EXPECT_EQ(run({"--drain"}), 0);
  EXPECT_EQ(first.get(), 42);
  EXPECT_EQ(second.get(), 8);
}

TEST_F(RunWorkerTest, HasTheBuiltInTypes) {
  const TaskHandle echo = app.tasks().submit_json("errand.echo", R"({"a":1})");
  SubmitOptions once;
  once.retry.max_retries = 0;
  const TaskHandle fail = app.tasks().submit_json("errand.fail", R"({"message":"no"})", once);
  EXPECT_EQ(run({"--drain"}), 0);
  EXPECT_EQ(echo.get_json(), R"({"a":1})");
  EXPECT_THROW(static_cast<void>(fail.get_json()), TaskFailedException);
}

TEST_F(RunWorkerTest, ServesTheQueuesNamedAndNoOthers) {
  SubmitOptions to_mail;
  to_mail.queue = "mail";
  SubmitOptions to_bulk;
  to_bulk.queue = "bulk";
  const auto mail = app.tasks().submit(shop::Double{1}, to_mail);
  const auto bulk = app.tasks().submit(shop::Double{1}, to_bulk);
  const auto usual = app.tasks().submit(shop::Double{1});
  EXPECT_EQ(run({"--drain", "--queue", "mail", "--queue", "bulk"}), 0);
  EXPECT_EQ(mail.status(), TaskStatus::completed);
  EXPECT_EQ(bulk.status(), TaskStatus::completed);
  EXPECT_EQ(usual.status(), TaskStatus::pending);
}

TEST_F(RunWorkerTest, QueuesMayBeSeparatedByCommas) {
  SubmitOptions to_mail;
  to_mail.queue = "mail";
  SubmitOptions to_bulk;
  to_bulk.queue = "bulk";
  const auto mail = app.tasks().submit(shop::Double{1}, to_mail);
  const auto bulk = app.tasks().submit(shop::Double{1}, to_bulk);
  EXPECT_EQ(run({"--drain", "-q", "mail,bulk"}), 0);
  EXPECT_EQ(mail.status(), TaskStatus::completed);
  EXPECT_EQ(bulk.status(), TaskStatus::completed);
}

TEST_F(RunWorkerTest, StopsAtItsLimit) {
  const auto futures = app.tasks().submit_all(std::vector<shop::Double>(5));
  EXPECT_EQ(run({"--limit", "3"}), 0);
  int completed = 0;
  for (const auto& future : futures) completed += future.status() == TaskStatus::completed ? 1 : 0;
  EXPECT_EQ(completed, 3);
}

TEST_F(RunWorkerTest, RunsCommandsForTypesWithoutAHandler) {
  const TaskHandle thumb = app.tasks().submit_json("thumb.make", R"({"width":100})");
  EXPECT_EQ(run({"--drain", "--exec", "thumb.make=cat | tr 1 2"}), 0);
  EXPECT_EQ(thumb.get_json(), R"({"width":200})");
}

TEST_F(RunWorkerTest, ACommandThatDoesNotReadItsInputEndsNothingButItself) {
  std::signal(SIGPIPE, SIG_DFL);  // it must see to that itself
  const std::string big = "\"" + std::string(1 << 20, 'x') + "\"";
  const TaskHandle task = app.tasks().submit_json("ignore.input", big);
  EXPECT_EQ(run({"--drain", "--exec", "ignore.input=exec <&-; echo 1"}), 0);
  EXPECT_EQ(task.get_json(), "1");
}

TEST_F(RunWorkerTest, KillsCommandsAfterTheirTimeout) {
  SubmitOptions once;
  once.retry.max_retries = 0;
  const TaskHandle slow = app.tasks().submit_json("slow", "1", once);
  EXPECT_EQ(run({"--drain", "--exec", "slow=sleep 1000", "--exec-timeout", "300ms"}), 0);
  try {
    static_cast<void>(slow.get_json());
    FAIL() << "must throw";
  } catch (const TaskFailedException& error) {
    EXPECT_THAT(error.data().message, HasSubstr("killed after 300 ms"));
    EXPECT_EQ(error.data().class_name, "errand::CommandFailed");
  }
}

TEST_F(RunWorkerTest, ASignalStopsItAfterTheRunningTask) {
  app.handlers().add_raw("stop.me", [](const Envelope&, TaskContext&) {
    std::raise(SIGTERM);
    return std::string{"\"finished\""};
  });
  const TaskHandle task = app.tasks().submit_json("stop.me", "1");
  EXPECT_EQ(run({"--concurrency", "1"}), 0);
  EXPECT_EQ(task.get_json(), "\"finished\"");
}

TEST_F(RunWorkerTest, LogsWhatItDid) {
  app.tasks().submit(shop::Double{1});
  EXPECT_EQ(run({"--drain", "--log-level", "info"}), 0);
  EXPECT_THAT(err, AllOf(HasSubstr("serves default"), HasSubstr("drained: 1 completed, 0 failed")));
}

}  // namespace
}  // namespace errand
