#include "app/child_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "support/eventually.hpp"
#include "support/temp_dir.hpp"
#include "unit/app/ignored_pipe_signal.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using testing::eventually;
using ::testing::HasSubstr;
using testing::IgnoredPipeSignal;
using ::testing::Not;
using testing::TempDir;
using End = ChildResult::End;

constexpr std::size_t kMuch = 1 << 20;

ChildOptions options_of(std::string command) {
  ChildOptions options;
  options.command = std::move(command);
  options.max_output = kMuch;
  options.max_errors = kMuch;
  // No test may hang; those about timeouts set a shorter one.
  options.timeout = testing::kPatience;
  return options;
}

ChildResult run(const ChildOptions& options, std::string_view input = {}) {
  return run_child(options, input, {});
}
ChildResult run(std::string command, std::string_view input = {}) {
  return run(options_of(std::move(command)), input);
}

/// Dead, even if nobody has collected it yet.
bool is_gone(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos || text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

/// A file into which a command writes the number of a process.
class PidFile {
 public:
  [[nodiscard]] std::string path() const { return (directory_ / "pid").string(); }

  [[nodiscard]] pid_t read() const {
    pid_t process = 0;
    const bool found = eventually([&] {
      std::ifstream file{path()};
      std::string line;
      // The line feed comes last: with it, the number is whole.
      if (!std::getline(file, line) || file.eof()) return false;
      process = std::stoi(line);
      return true;
    });
    if (!found) throw std::runtime_error{"the command wrote no process number"};
    return process;
  }

 private:
  TempDir directory_;
};

class ChildProcessTest : public ::testing::Test {
 private:
  IgnoredPipeSignal ignored_;
};

int signals_told = -1;  // what the handler below writes to, which a child has, too

TEST_F(ChildProcessTest, ASignalToACommandThatHasNotBegunIsNotTakenForOneToTheProgram) {
  std::array<int, 2> told{};
  ASSERT_EQ(pipe2(told.data(), O_CLOEXEC | O_NONBLOCK), 0);
  signals_told = told[1];
  const auto before = std::signal(SIGTERM, [](int) {
    if (write(signals_told, "!", 1) != 1) _exit(1);
  });
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(run_child(options_of("exec sleep 600"), {}, stop.get_token()).end, End::stopped);
  }
  std::signal(SIGTERM, before);
  char byte = 0;
  EXPECT_EQ(read(told[0], &byte, 1), -1) << "a child ran the program's handler";
  close(told[0]);
  close(told[1]);
}

TEST_F(ChildProcessTest, GetsTheInputAndGivesItsOutput) {
  const ChildResult result = run("cat; echo and more; echo an error >&2", "hello ");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "hello and more\n");
  EXPECT_EQ(result.errors, "an error\n");
}

TEST_F(ChildProcessTest, PassesMoreThanAPipeHoldsBothWays) {
  std::string input;
  for (int i = 0; input.size() < kMuch - 10; ++i) input += std::to_string(i) + ",";
  const ChildResult result = run("cat", input);
  EXPECT_EQ(result.end, End::exited);
  EXPECT_TRUE(result.output == input) << result.output.size() << " of " << input.size();
}

TEST_F(ChildProcessTest, TellsItsExitStatus) {
  const ChildResult result = run("exit 3");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 3);
}

TEST_F(ChildProcessTest, TellsTheSignalThatEndedIt) {
  const ChildResult result = run("kill -SEGV $$");
  EXPECT_EQ(result.end, End::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST_F(ChildProcessTest, ACommandThatDoesNotExistFailsLikeInAShell) {
  const ChildResult result = run("/nonexistent/program");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 127);
  EXPECT_THAT(result.errors, HasSubstr("/nonexistent/program"));
}

TEST_F(ChildProcessTest, HasTheEnvironmentOfThisProcessAndWhatIsAdded) {
  setenv("ERRAND_TEST_INHERITED", "from the parent", 1);
  setenv("ERRAND_TEST_REPLACED", "old", 1);
  ChildOptions options = options_of(
      "echo $ERRAND_TEST_INHERITED; echo $ERRAND_TEST_REPLACED; echo $ERRAND_TEST_NEW; "
      "env | grep -c ^ERRAND_TEST_REPLACED=");
  options.environment = {{"ERRAND_TEST_REPLACED", "new"}, {"ERRAND_TEST_NEW", "a=b c"}};
  EXPECT_EQ(run(options).output, "from the parent\nnew\na=b c\n1\n");
  unsetenv("ERRAND_TEST_INHERITED");
  unsetenv("ERRAND_TEST_REPLACED");
}

TEST_F(ChildProcessTest, HasNoFilesOpenButItsPipes) {
  constexpr const char* kCount = "ls /proc/self/fd | wc -l";
  // What this process itself was started with is passed on; popen() shows how much that is.
  FILE* const plain = popen(kCount, "r");
  ASSERT_NE(plain, nullptr);
  std::array<char, 16> count{};
  EXPECT_NE(fgets(count.data(), count.size(), plain), nullptr);
  pclose(plain);
  EXPECT_EQ(run(kCount).output, count.data());
}

TEST_F(ChildProcessTest, StartsWithoutBlockedOrIgnoredSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const ChildResult result = run("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(result.output, HasSubstr("SigBlk:\t0000000000000000"));
  const std::string ignored = result.output.substr(result.output.find("SigIgn:") + 8, 16);
  EXPECT_EQ(std::stoull(ignored, nullptr, 16) >> (SIGPIPE - 1) & 1, 0U)
      << "a filter must end when nobody reads it any more";
}

TEST_F(ChildProcessTest, RunsInAGroupOfItsOwn) {
  const pid_t group = std::stoi(run("ps -o pgid= -p $$ || cut -d' ' -f5 /proc/$$/stat").output);
  EXPECT_NE(group, getpgrp());
}

TEST_F(ChildProcessTest, IsKilledWithItsChildrenAfterTheTimeout) {
  const PidFile pid;
  ChildOptions options =
      options_of("echo before; echo why >&2; sleep 1000 & echo $! > " + pid.path() + "; wait");
  options.timeout = milliseconds{300};
  const ChildResult result = run(options);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.output, "before\n");
  EXPECT_EQ(result.errors, "why\n");
  const pid_t grandchild = pid.read();
  EXPECT_TRUE(eventually([&] { return is_gone(grandchild); }));
}

TEST_F(ChildProcessTest, TheTimeoutDoesNotWaitForAPauseInItsOutput) {
  ChildOptions options = options_of("yes 1>&2");
  options.timeout = milliseconds{300};
  options.max_errors = 100;
  const ChildResult result = run(options);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.errors.size(), 100U);
}

TEST_F(ChildProcessTest, IsKilledWithItsChildrenWhenAskedToStop) {
  const PidFile pid;
  std::stop_source stop;
  std::jthread stopper{[&] {
    static_cast<void>(pid.read());
    stop.request_stop();
  }};
  const ChildResult result = run_child(
      options_of("sleep 1000 & echo $! > " + pid.path() + "; wait"), {}, stop.get_token());
  EXPECT_EQ(result.end, End::stopped);
  const pid_t grandchild = pid.read();
  EXPECT_TRUE(eventually([&] { return is_gone(grandchild); }));
}

TEST_F(ChildProcessTest, AStopThatCameBeforeIsObeyedToo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(run_child(options_of("sleep 1000"), {}, stop.get_token()).end, End::stopped);
}

TEST_F(ChildProcessTest, IsKilledWhenItPrintsTooMuch) {
  ChildOptions options = options_of("yes");
  options.max_output = 100'000;
  const ChildResult result = run(options);
  EXPECT_EQ(result.end, End::output_too_large);
  EXPECT_LT(result.output.size(), 100'000U + 2 * kMuch) << "and was not read to the end of memory";
}

TEST_F(ChildProcessTest, OutputTooLargeIsToldOfACommandThatHasExitedToo) {
  ChildOptions options = options_of("echo 12345");
  options.max_output = 5;
  EXPECT_EQ(run(options).end, End::output_too_large);
  options.max_output = 6;
  EXPECT_EQ(run(options).end, End::exited);
}

TEST_F(ChildProcessTest, OfStandardErrorTheEndIsKept) {
  ChildOptions options = options_of("seq 1 100000 >&2; echo the reason >&2; exit 1");
  options.max_errors = 100;
  const ChildResult result = run(options);
  EXPECT_EQ(result.errors.size(), 100U);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("the reason"), Not(HasSubstr("\n1\n"))));
}

TEST_F(ChildProcessTest, NeedNotReadItsInput) {
  const std::string input(4 * kMuch, 'x');
  const ChildResult result = run("exec <&-; echo done", input);
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "done\n");
}

TEST_F(ChildProcessTest, ABackgroundProcessThatKeepsItsOutputOpenIsEndedWithIt) {
  const PidFile pid;
  const ChildResult result = run("sleep 1000 & echo $! > " + pid.path() + "; echo done");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "done\n");
  const pid_t grandchild = pid.read();
  EXPECT_TRUE(eventually([&] { return is_gone(grandchild); }));
}

TEST_F(ChildProcessTest, ADaemonThatKeepsItsOutputOpenIsNotWaitedFor) {
  const PidFile pid;
  const ChildResult result =
      run("setsid sh -c 'echo $$ > " + pid.path() + "; exec sleep 1000' & while ! test -s " +
          pid.path() + "; do sleep 0.01; done; echo done");
  const pid_t daemon = pid.read();
  EXPECT_FALSE(is_gone(daemon)) << "it left the group: the test would prove nothing";
  EXPECT_EQ(kill(daemon, SIGKILL), 0);
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.output, "done\n");
}

TEST_F(ChildProcessTest, ADaemonThatGoesOnWritingIsNotListenedTo) {
  const PidFile pid;
  ChildOptions options =
      options_of("setsid sh -c 'echo $$ > " + pid.path() + "; exec yes 1>&2' & while ! test -s " +
                 pid.path() + "; do sleep 0.01; done");
  options.max_errors = 10;
  const ChildResult result = run(options);
  EXPECT_EQ(kill(pid.read(), SIGKILL), 0);
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.errors.size(), 10U);
}

/// Lets so many more file descriptors be opened and no more.
void leave_descriptors(std::size_t free) {
  const rlimit limit{256, 256};
  setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> taken;
  while (true) {
    const int descriptor = open("/dev/null", O_RDONLY);
    if (descriptor < 0) break;
    taken.push_back(descriptor);
  }
  for (std::size_t i = 0; i < free; ++i) close(taken.at(i));
}

TEST_F(ChildProcessTest, WithTooFewFileDescriptorsItIsNotStarted) {
  const auto run_with = [](std::size_t free) {
    leave_descriptors(free);
    try {
      _exit(run("echo hello").output == "hello\n" ? 0 : 2);
    } catch (const std::system_error& error) {
      _exit(error.code().value() == EMFILE ? 1 : 2);
    }
  };
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  // Three pipes and an event.
  EXPECT_EXIT(run_with(1), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(run_with(6), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(run_with(7), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace errand::detail
