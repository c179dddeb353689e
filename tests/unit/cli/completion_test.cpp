#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/program_under_test.hpp"

namespace errand::cli {
namespace {

using testing::HasSubstr;

TEST(Completion, EachShellGetsCommandsOptionsAndTheirWords) {
  const std::string bash = run_program({"completion", "bash"}).out;
  EXPECT_THAT(bash, HasSubstr("complete -o default -F _errand errand"));
  EXPECT_THAT(bash, HasSubstr("' failed') words='list show retry remove'"));
  EXPECT_THAT(bash, HasSubstr("' list --status') words='pending running retrying completed failed "
                              "cancelled'"));

  const std::string zsh = run_program({"completion", "zsh"}).out;
  EXPECT_THAT(zsh, testing::StartsWith("#compdef errand\n"));
  EXPECT_THAT(zsh, HasSubstr("_errand_failed_list() {"));
  EXPECT_THAT(zsh, HasSubstr(":FILE:_files'"));

  const std::string fish = run_program({"completion", "fish"}).out;
  EXPECT_THAT(fish, HasSubstr("complete -c errand -n \"__errand_at ' failed'\" -a retry"));
  EXPECT_THAT(fish, HasSubstr("complete -c errand -n \"__errand_at ' submit'\" -l jsonl -r -F"));
}

TEST(Completion, OtherShellsAreRefused) {
  const Ended ended = run_program({"completion", "tcsh"});
  EXPECT_EQ(ended.code, ExitCode::usage);
  EXPECT_THAT(ended.err, HasSubstr("bash"));
}

}  // namespace
}  // namespace errand::cli
