#include <memory>

#include "errand/engine.hpp"
#include "errand/handler.hpp"

#include "app/worker_command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace errand::cli {

void add_worker(CLI::App& parent, Invocation& invocation) {
  CLI::App& command =
      add_command(parent, "worker", "Run tasks and messages until stopped", kWorkerCommands);
  const std::shared_ptr<detail::WorkerCommand> worker = detail::add_worker_options(command);
  add_dsn(command, invocation);
  runs(command, invocation, [&invocation, worker] {
    Handlers handlers;
    const std::unique_ptr<Engine> engine =
        detail::serves_tasks(*worker) ? invocation.open(EngineOptions::Open::create) : nullptr;
    return static_cast<ExitCode>(detail::run_worker_command(*worker, handlers, engine.get()));
  });
}

}  // namespace errand::cli
