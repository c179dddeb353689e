#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace errand::cli {

void add_failed(CLI::App& parent, Invocation& invocation) {
  CLI::App& group =
      add_command(parent, "failed",
                  "Look at failed tasks, run or remove them; with --transport, failed messages",
                  kOperatorCommands);
  require_command(group);
  add_failed_list(group, invocation);
  add_failed_show(group, invocation);
  add_failed_retry(group, invocation);
  add_failed_remove(group, invocation);
  add_dsn(group, invocation);
  add_examples(group, {"errand failed list --stats", "errand failed retry --type email.send",
                       "errand failed list --transport failed"});
}

}  // namespace errand::cli
