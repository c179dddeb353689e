#pragma once

#include <memory>

#include "errand/engine.hpp"
#include "errand/handler.hpp"
#include "errand/logger.hpp"

#include "terminal/cli11_fwd.hpp"

namespace errand::detail {

/// The options of a worker program, on their way from the command line.
struct WorkerCommand;

/// Adds the worker's options to `command`, which fills the returned object when it parses.
[[nodiscard]] std::shared_ptr<WorkerCommand> add_worker_options(CLI::App& command);

/// False: messages of transports alone; no engine is needed.
[[nodiscard]] bool serves_tasks(const WorkerCommand& command);

/// Writes as the worker's options say.
[[nodiscard]] std::unique_ptr<Logger> make_logger(const WorkerCommand& command);

/// Runs a worker until a signal or a limit ends it; returns the process's exit code. `engine` may
/// be null unless it serves_tasks(). Throws ConfigurationException for options that make no sense.
/// Does not return if handlers ignore the stop: the process ends with exit code 0 all the same.
[[nodiscard]] int run_worker_command(const WorkerCommand& command, Handlers& handlers,
                                     Engine* engine);

}  // namespace errand::detail
