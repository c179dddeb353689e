#pragma once

#include "cli/invocation.hpp"
#include "terminal/cli11_fwd.hpp"

/// The commands, each in the file of its name. A function adds one to `parent`; what it binds to
/// the options lives as long as `parent`, `invocation` must, too.
namespace errand::cli {

void add_submit(CLI::App& parent, Invocation& invocation);
void add_send(CLI::App& parent, Invocation& invocation);
void add_status(CLI::App& parent, Invocation& invocation);
void add_wait(CLI::App& parent, Invocation& invocation);
void add_cancel(CLI::App& parent, Invocation& invocation);
void add_list(CLI::App& parent, Invocation& invocation);
void add_worker(CLI::App& parent, Invocation& invocation);
void add_queue(CLI::App& parent, Invocation& invocation);
void add_transport(CLI::App& parent, Invocation& invocation);
void add_failed(CLI::App& parent, Invocation& invocation);
void add_failed_list(CLI::App& parent, Invocation& invocation);
void add_failed_show(CLI::App& parent, Invocation& invocation);
void add_failed_retry(CLI::App& parent, Invocation& invocation);
void add_failed_remove(CLI::App& parent, Invocation& invocation);
void add_stats(CLI::App& parent, Invocation& invocation);
void add_top(CLI::App& parent, Invocation& invocation);
void add_serve(CLI::App& parent, Invocation& invocation);
void add_clean(CLI::App& parent, Invocation& invocation);
void add_setup(CLI::App& parent, Invocation& invocation);
void add_doctor(CLI::App& parent, Invocation& invocation);
void add_bench(CLI::App& parent, Invocation& invocation);
void add_version(CLI::App& parent, Invocation& invocation);
void add_completion(CLI::App& parent, Invocation& invocation);

/// The help's groups of commands, in its order.
inline constexpr const char* kTaskCommands = "Tasks";
inline constexpr const char* kWorkerCommands = "Workers and queues";
inline constexpr const char* kOperatorCommands = "Operating";
inline constexpr const char* kStorageCommands = "Storage";
inline constexpr const char* kProgramCommands = "This program";

}  // namespace errand::cli
