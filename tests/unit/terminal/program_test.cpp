#include "terminal/program.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "terminal/complaint.hpp"
#include "terminal/options.hpp"
#include "terminal/version.hpp"

namespace errand::terminal {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ParseArguments : public ::testing::Test {
 protected:
  ParseArguments() {
    begin_program(root, {}, "The end.");
    CLI::App& greet = add_command(root, "greet", "Say hello");
    add_json(greet, as_json);
    runs(greet, named, [] { return ExitCode::timed_out; });
  }

  std::optional<ExitCode> parse(std::vector<std::string> arguments) {
    return parse_arguments(root, std::move(arguments), console);
  }

  CLI::App root{"It greets.", "greeter"};
  bool as_json = false;
  std::function<ExitCode()> named;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console{.in = in,
                  .out = out,
                  .err = err,
                  .in_is_terminal = false,
                  .out_screen = {},
                  .err_screen = {}};
};

TEST_F(ParseArguments, ACommandThatWasNamedIsLeftToTheProgramToRun) {
  EXPECT_EQ(parse({"greet"}), std::nullopt);
  ASSERT_TRUE(named);
  EXPECT_EQ(named(), ExitCode::timed_out);
  EXPECT_EQ(out.str() + err.str(), "");
}

TEST_F(ParseArguments, NoArgumentsAreAMistakeThatTheHelpAnswers) {
  EXPECT_EQ(parse({}), ExitCode::usage);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("Usage: greeter"), EndsWith("The end.\n")));
  EXPECT_EQ(out.str(), "");
}

TEST_F(ParseArguments, HelpIsAWordAndAnOption) {
  EXPECT_EQ(parse({"help", "greet"}), ExitCode::done);
  EXPECT_EQ(parse({"greet", "--help"}), ExitCode::done);
  EXPECT_THAT(out.str(), StartsWith("Say hello\n"));
  const std::string both = out.str();
  EXPECT_EQ(both.substr(0, both.size() / 2), both.substr(both.size() / 2));
}

TEST_F(ParseArguments, ThereIsNoHelpForACommandThatThereIsNot) {
  EXPECT_EQ(parse({"help", "gret"}), ExitCode::usage);
  EXPECT_EQ(err.str(),
            "greeter: greeter has no command 'gret'; did you mean 'greet'? See: greeter --help\n");
  EXPECT_EQ(out.str(), "");
}

TEST_F(ParseArguments, AnOptionOfTheCommandGoesBehindIt) {
  EXPECT_EQ(parse({"--json", "greet"}), ExitCode::usage);
  EXPECT_EQ(err.str(),
            "greeter: --json goes behind the command: greeter greet --json. See: greeter greet "
            "--help\n");
}

TEST_F(ParseArguments, TheVersionIsTheProjects) {
  EXPECT_EQ(parse({"--version"}), ExitCode::done);
  EXPECT_EQ(out.str(), std::string{"greeter "} + kVersion + "\n");
}

TEST_F(ParseArguments, AMistakeIsExplainedInTheProgramsName) {
  EXPECT_EQ(parse({"geret\x1b"}), ExitCode::usage);
  EXPECT_EQ(err.str(), "greeter: greeter has no command 'geret\\x1b'. See: greeter --help\n");
  EXPECT_EQ(out.str(), "");
}

TEST(Complaint, IsOneLineUnlessItIsMeantToBeMore) {
  std::istringstream in;
  std::ostringstream err;
  Console console{.in = in,
                  .out = err,
                  .err = err,
                  .in_is_terminal = false,
                  .out_screen = {},
                  .err_screen = {}};
  complain(console, "greeter", "no\nway");
  EXPECT_EQ(err.str(), "greeter: no\\nway\n");
  err.str("");
  complain_in_lines(console, "greeter", "the forms are:\n  a\n  \x1b");
  EXPECT_EQ(err.str(), "greeter: the forms are:\n  a\n  \\x1b\n");
}

}  // namespace
}  // namespace errand::terminal
