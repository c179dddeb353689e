#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/completion_scripts.hpp"
#include "cli/options.hpp"

namespace errand::cli {
namespace {

struct CompletionCommand {
  const CLI::App& root;
  std::string shell;
};

ExitCode completion(const CompletionCommand& command, Invocation& invocation) {
  std::ostream& out = invocation.console.out;
  if (command.shell == "bash") {
    out << bash_completion(command.root);
  } else if (command.shell == "zsh") {
    out << zsh_completion(command.root);
  } else {
    out << fish_completion(command.root);
  }
  return ExitCode::done;
}

}  // namespace

void add_completion(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<CompletionCommand>(CompletionCommand{parent, {}});
  CLI::App& command = add_command(parent, "completion",
                                  "Print a script that lets your shell complete", kProgramCommands);
  add_argument(command, "SHELL", options->shell, "Which one")
      .required()
      .one_of({"bash", "zsh", "fish"});
  add_examples(command, {
                            "source <(errand completion bash)          # or put it into ~/.bashrc",
                            R"(errand completion zsh > "${fpath[1]}/_errand")",
                            "errand completion fish > ~/.config/fish/completions/errand.fish",
                        });
  runs(command, invocation, options, completion);
}

}  // namespace errand::cli
