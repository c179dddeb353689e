#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

#include "unit/cli/program_under_test.hpp"

namespace errand::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kId = "0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10";

TEST(Program, WithoutArgumentsItTellsHowToUseIt) {
  const Ended ended = run_program({});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("Usage: errand"));
}

TEST(Program, HelpIsAskedForInThreeWays) {
  const Ended flag = run_program({"submit", "--help"});
  EXPECT_EQ(flag.code, ExitCode::done);
  EXPECT_THAT(flag.out, AllOf(HasSubstr("Usage: errand submit [OPTION]… TYPE [PAYLOAD]"),
                              HasSubstr("--wait[=TIME]"), HasSubstr("Examples:")));
  EXPECT_EQ(run_program({"submit", "-h"}).out, flag.out);
  EXPECT_EQ(run_program({"help", "submit"}).out, flag.out);
}

TEST(Program, TheHelpOfTheProgramNamesCommandsAndExitCodes) {
  const Ended ended = run_program({"--help"});
  EXPECT_EQ(ended.code, ExitCode::done);
  for (const char* word :
       {"submit", "status", "wait", "cancel", "list", "worker", "queue", "failed", "stats", "top",
        "clean", "setup", "doctor", "version", "completion", "storage unreachable"}) {
    EXPECT_THAT(ended.out, HasSubstr(word));
  }
}

/// The lines of a help are for a terminal of 80 columns, and so are its examples.
TEST(Program, NoLineOfAnyHelpIsLongerThanATerminal) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"--help"},
                                                  {"submit", "-h"},
                                                  {"status", "-h"},
                                                  {"wait", "-h"},
                                                  {"cancel", "-h"},
                                                  {"list", "-h"},
                                                  {"worker", "-h"},
                                                  {"queue", "-h"},
                                                  {"queue", "pause", "-h"},
                                                  {"queue", "list", "-h"},
                                                  {"failed", "-h"},
                                                  {"failed", "list", "-h"},
                                                  {"failed", "show", "-h"},
                                                  {"failed", "retry", "-h"},
                                                  {"failed", "remove", "-h"},
                                                  {"stats", "-h"},
                                                  {"top", "-h"},
                                                  {"clean", "-h"},
                                                  {"setup", "-h"},
                                                  {"doctor", "-h"},
                                                  {"version", "-h"},
                                                  {"completion", "-h"}}) {
    const Ended ended = run_program(command);
    EXPECT_EQ(ended.code, ExitCode::done);
    std::istringstream lines{ended.out};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 84U) << line;
      EXPECT_THAT(line, Not(EndsWith(" ")));
    }
  }
}

TEST(Program, TheVersionIsPrinted) {
  const Ended ended = run_program({"--version"});
  EXPECT_EQ(ended.code, ExitCode::done);
  EXPECT_THAT(ended.out, StartsWith("errand "));
}

TEST(Program, AMistypedCommandIsGuessed) {
  const Ended ended = run_program({"stauts"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_EQ(ended.err,
            "errand: errand has no command 'stauts'; did you mean 'status'? See: errand --help\n");
}

TEST(Program, AMistypedCommandOfAGroupIsGuessed) {
  EXPECT_EQ(run_program({"failed", "lst"}).err,
            "errand: errand failed has no command 'lst'; did you mean 'list'? "
            "See: errand failed --help\n");
}

TEST(Program, ACommandThatIsNothingLikeOursIsNotGuessed) {
  EXPECT_EQ(run_program({"frobnicate"}).err,
            "errand: errand has no command 'frobnicate'. See: errand --help\n");
}

TEST(Program, AMistypedOptionIsGuessed) {
  const Ended ended = run_program({"list", "--statsu=failed"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_EQ(ended.err,
            "errand: errand list has no option '--statsu'; did you mean '--status'? "
            "See: errand list --help\n");
}

TEST(Program, AnOptionThatIsNothingLikeOursIsNotGuessed) {
  EXPECT_EQ(run_program({"list", "--nope"}).err,
            "errand: errand list has no option '--nope'. See: errand list --help\n");
}

TEST(Program, AMissingCommandOfAGroupIsListed) {
  const Ended ended = run_program({"failed"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_EQ(ended.err,
            "errand: errand failed needs a command: list, show, retry, remove. "
            "See: errand failed --help\n");
}

TEST(Program, AMissingArgumentIsNamed) {
  const Ended ended = run_program({"wait"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_EQ(ended.err, "errand: ID is required. See: errand wait --help\n");
}

TEST(Program, AMissingValueIsNamed) {
  const Ended ended = run_program({"list", "--queue"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_EQ(ended.err, "errand: --queue needs a value: --queue QUEUE. See: errand list --help\n");
}

TEST(Program, AnArgumentTooManyIsNamedWithoutActingOnTheTerminal) {
  const Ended ended = run_program({"stats", "a\x1b[2J"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, StartsWith("errand: errand stats does not take 'a\\x1b[2J'"));
}

TEST(Program, ANumberOutOfRangeNamesTheRange) {
  for (const char* size : {"0", "1001", "x", "", "20x", "99999999999999999999"}) {
    const Ended ended = run_program({"list", "--page-size", size});
    EXPECT_EQ(ended.code, ExitCode::usage) << size;
    EXPECT_THAT(ended.err, HasSubstr("is not a whole number of 1 to 1000")) << size;
  }
}

TEST(Program, ADurationThatIsNoneNamesTheOption) {
  const Ended ended = run_program({"wait", kId, "--timeout", "soon"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, StartsWith("errand: --timeout: 'soon' is not a duration"));
}

TEST(Program, AStatusThatIsNoneIsRefused) {
  const Ended ended = run_program({"list", "--status", "pending,done"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, HasSubstr("done"));
}

TEST(Program, AnIdThatIsNoneIsRefusedBeforeAnythingIsOpened) {
  const Ended ended = run_program({"status", "42", "--dsn", "sqlite:/nonexistent/errand.db"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, HasSubstr("42"));
}

TEST(Program, JsonIsCheckedBeforeAnythingIsOpened) {
  const Ended ended =
      run_program({"submit", "t", R"({"a":})", "--dsn", "sqlite:/nonexistent/errand.db"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, StartsWith("errand: the payload: not JSON"));
}

TEST(Program, AWordOfAnotherCommandIsAnOrdinaryArgument) {
  // `failed` and `list` are commands, too: as type and payload they are not.
  const Ended ended = run_program({"submit", "failed", "list"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, StartsWith("errand: the payload: not JSON"));
}

TEST(Program, TheDsnIsTakenBeforeAndAfterTheCommandAndTheLaterWins) {
  const Ended before = run_program({"--dsn", "sqlite:/nonexistent/before.db", "stats"});
  EXPECT_EQ(before.code, ExitCode::storage_unreachable);
  EXPECT_THAT(before.err, HasSubstr("/nonexistent/before.db"));
  const Ended both = run_program({"failed", "--dsn", "sqlite:/nonexistent/first.db", "list",
                                  "--dsn", "sqlite:/nonexistent/second.db"});
  EXPECT_THAT(both.err, AllOf(HasSubstr("second.db"), Not(HasSubstr("first.db"))));
}

TEST(Program, AWrongDsnIsAnsweredWithTheRightForms) {
  const Ended ended = run_program({"stats", "--dsn", "nonsense"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, AllOf(StartsWith("errand: --dsn: "), HasSubstr("\n  sqlite:path.db\n")));
}

TEST(Program, PasswordsInADsnAreNotPrinted) {
  const Ended ended = run_program({"stats", "--dsn", "postgresql://u:secret@host:99999/x"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, Not(HasSubstr("secret")));
}

TEST(Program, DumpingTheSchemaOpensNothing) {
  const Ended ended =
      run_program({"setup", "--dump-sql", "--dsn", "sqlite:/nonexistent/errand.db"});
  EXPECT_EQ(ended.code, ExitCode::done);
  EXPECT_THAT(ended.out, HasSubstr("CREATE TABLE async_tasks"));
}

TEST(Program, RetryAndRemoveNeedToKnowWhichTasks) {
  EXPECT_EQ(run_program({"failed", "retry"}).code, ExitCode::usage);
  EXPECT_EQ(run_program({"failed", "remove", kId, "--all"}).code, ExitCode::usage);
}

}  // namespace
}  // namespace errand::cli
