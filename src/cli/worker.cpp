#include <memory>

#include "errand/application.hpp"

#include "app/worker_command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace errand::cli {

void add_worker(CLI::App& parent, Invocation& invocation) {
  CLI::App& command = add_command(parent, "worker", "Run tasks until stopped", kWorkerCommands);
  const std::shared_ptr<detail::WorkerCommand> worker = detail::add_worker_options(command);
  add_dsn(command, invocation);
  runs(command, invocation, [&invocation, worker] {
    Application app{invocation.dsn()};
    return static_cast<ExitCode>(detail::run_worker_command(*worker, app));
  });
}

}  // namespace errand::cli
