#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "errand/application.hpp"

#include "cli/await_result.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace errand::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct WaitCommand {
  std::vector<std::string> ids;
  std::optional<milliseconds> timeout;
  bool json = false;
};

ExitCode wait(const WaitCommand& command, Invocation& invocation) {
  const std::vector<TaskId> ids = parse_ids(command.ids);
  Application app{invocation.dsn(), {.open = EngineOptions::Open::existing}};
  const auto begin = steady_clock::now();
  ExitCode first_bad = ExitCode::done;
  for (const TaskId id : ids) {
    std::optional<milliseconds> left = command.timeout;
    if (left) {
      const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
      left = std::max(*left - waited, milliseconds{0});
    }
    const ExitCode code = command.json ? print_outcome(app, id, left, invocation.console)
                                       : print_result(app, id, left, invocation.console);
    if (first_bad == ExitCode::done) first_bad = code;
  }
  return first_bad;
}

}  // namespace

void add_wait(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<WaitCommand>();
  CLI::App& command =
      add_command(parent, "wait", "Wait for tasks and print their results", kTaskCommands);
  add_ids(command, options->ids, "The tasks; one result a line, in this order").required();
  add_duration(command, "--timeout", options->timeout,
               "Give up after this time for all of them; the tasks go on");
  add_flag(command, "--json", options->json,
           "For each task a line with its id, status and result or error, however it ended");
  add_dsn(command, invocation);
  add_examples(command, {
                            "errand wait 0d9b3f0e-8c67-4d8e-9d6c-3a1d2f5b7c10",
                            R"(errand wait "$id" --timeout 30s || echo "exit status $?")",
                            "errand wait $(cat ids.txt) --json | jq -r .status",
                        });
  runs(command, invocation, options, wait);
}

}  // namespace errand::cli
