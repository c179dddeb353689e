#include "app/exec_handler.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stop_token>
#include <string>

#include "errand/envelope.hpp"

#include "support/milestone.hpp"
#include "unit/app/ignored_pipe_signal.hpp"

namespace errand::detail {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Envelope kThumb{"thumb.make", R"({"width":100})"};

std::string run(const std::string& command, milliseconds timeout = testing::kPatience) {
  const testing::IgnoredPipeSignal ignored;
  TaskContext context{TaskId::generate()};
  return exec_handler(command, timeout)(kThumb, context);
}

template <class E>
std::string message_of(const std::string& command, milliseconds timeout = testing::kPatience) {
  try {
    return "no error, but the result " + run(command, timeout);
  } catch (const E& error) {
    return error.what();
  }
}

TEST(ExecHandler, GivesTheCommandThePayload) { EXPECT_EQ(run("cat"), R"({"width":100})"); }

TEST(ExecHandler, TakesJsonFromItsOutput) {
  EXPECT_EQ(run("echo '[1, 2]'"), "[1, 2]");
  EXPECT_EQ(run("echo ignored >&2; echo 7"), "7") << "standard error is not the result";
}

TEST(ExecHandler, NoOutputIsNull) {
  EXPECT_EQ(run("true"), "null");
  EXPECT_EQ(run("echo; echo ' '"), "null");
}

TEST(ExecHandler, OutputThatIsNotJsonCanNotGetBetter) {
  EXPECT_THAT(message_of<Unrecoverable>("echo hello"),
              StartsWith("the command's output: not JSON at byte 0"));
  EXPECT_THAT(message_of<Unrecoverable>("printf '1 2'"),
              StartsWith("the command's output: not JSON at byte 2"));
  EXPECT_THAT(message_of<Unrecoverable>("echo 1e400"),
              StartsWith("the command's output: number out of range at byte 0"));
}

TEST(ExecHandler, AMessageHasNoResultAndItsCommandMayPrintAnything) {
  const testing::IgnoredPipeSignal ignored;
  const Claim claim{.lease = {TaskId::generate(), 1}, .envelope = kThumb, .message_id = "42"};
  TaskContext context{claim, {}, silent_logger(), {}};
  const RawHandler handler = exec_handler("echo hello", testing::kPatience);
  EXPECT_EQ(handler(kThumb, context), "null");
  const RawHandler told = exec_handler("[ \"$ERRAND_MESSAGE_ID/$ERRAND_TASK_ID\" = 42/ ] || exit 1",
                                       testing::kPatience);
  EXPECT_EQ(told(kThumb, context), "null") << "it knows the message, and that there is no task";
}

TEST(ExecHandler, ACommandServesATypeByEitherOfItsNames) {
  SymfonySerializer names;
  names.add("thumb.make", "App\\Thumb");
  names.add("mail.send", "App\\Mail");
  Handlers handlers;
  add_exec_handlers(handlers, {"App\\Thumb=echo 1", "mail.send=echo 2", "App\\Mail=echo 3"},
                    milliseconds{0}, names);
  EXPECT_TRUE(handlers.has("thumb.make"));
  EXPECT_EQ(handlers.types().size(), 4U) << "mail has a command for each of its names";
}

TEST(ExecHandler, AnExitStatusIsAFailureWithStandardErrorAsMessage) {
  EXPECT_EQ(message_of<CommandFailed>("echo 42; echo disk full >&2; exit 3"),
            "disk full (the command exited with status 3)");
  EXPECT_EQ(message_of<CommandFailed>("exit 3"), "the command exited with status 3");
}

TEST(ExecHandler, ASignalIsAFailureThatNamesIt) {
  EXPECT_THAT(
      message_of<CommandFailed>("echo aha >&2; kill -TERM $$"),
      AllOf(StartsWith("aha (the command was ended by signal 15"), HasSubstr("Terminated")));
}

TEST(ExecHandler, ATimeoutIsAFailureThatTellsIt) {
  EXPECT_EQ(message_of<CommandFailed>("echo slow >&2; sleep 1000", milliseconds{300}),
            "slow (the command was killed after 300 ms)");
}

TEST(ExecHandler, AStopIsPassedOn) {
  const testing::IgnoredPipeSignal ignored;
  std::stop_source stop;
  stop.request_stop();
  TaskContext context{TaskId::generate(), 1, stop.get_token()};
  EXPECT_THROW(static_cast<void>(exec_handler("sleep 1000", milliseconds{0})(kThumb, context)),
               Cancelled);
}

TEST(ExecHandler, TheCommandKnowsItsTask) {
  const testing::IgnoredPipeSignal ignored;
  const TaskId id = TaskId::generate();
  TaskContext context{id, 3};
  const std::string command = R"(printf '"%s %s %s"' $ERRAND_TASK_ID $ERRAND_TASK_TYPE )"
                              R"($ERRAND_ATTEMPT)";
  EXPECT_EQ(exec_handler(command, testing::kPatience)(kThumb, context),
            "\"" + id.to_string() + " thumb.make 3\"");
}

TEST(ExecHandler, HugeOutputCanNotGetBetter) {
  EXPECT_EQ(message_of<Unrecoverable>("head -c 67108865 /dev/zero"),
            "the command printed more than 64 MiB");
}

}  // namespace
}  // namespace errand::detail
