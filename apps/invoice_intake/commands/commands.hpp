#pragma once

#include <string>

#include "invoice_intake/commands/invocation.hpp"
#include "terminal/cli11_fwd.hpp"
#include "terminal/options.hpp"

/// The commands, each in the file of its name. A function adds one to `parent`; what it binds to
/// the options lives as long as `parent`, `invocation` must, too.
namespace errand::invoices {

void add_setup(CLI::App& parent, Invocation& invocation);
void add_user(CLI::App& parent, Invocation& invocation);
void add_ingest(CLI::App& parent, Invocation& invocation);
void add_worker(CLI::App& parent, Invocation& invocation);
void add_tasks(CLI::App& parent, Invocation& invocation);
void add_tasks_list(CLI::App& parent, Invocation& invocation);
void add_tasks_show(CLI::App& parent, Invocation& invocation);
void add_tasks_change(CLI::App& parent, Invocation& invocation);
void add_invoices(CLI::App& parent, Invocation& invocation);
void add_invoices_export(CLI::App& parent, Invocation& invocation);
void add_invoices_show(CLI::App& parent, Invocation& invocation);
void add_monitor(CLI::App& parent, Invocation& invocation);
void add_extract(CLI::App& parent, Invocation& invocation);
void add_purge(CLI::App& parent, Invocation& invocation);
void add_bench(CLI::App& parent, Invocation& invocation);

/// The help's groups of commands, in its order.
inline constexpr const char* kIntakeCommands = "From e-mail to invoice";
inline constexpr const char* kLookCommands = "Tasks and invoices";
inline constexpr const char* kStorageCommands = "Storage";

// What several commands take.
void add_dsn(CLI::App& command, Invocation& invocation);
void add_user_option(CLI::App& command, Invocation& invocation);
void add_originals(CLI::App& command, Invocation& invocation);
void add_extractor(CLI::App& command, Invocation& invocation);
using terminal::add_json;

using terminal::runs;

/// A day, `2026-01-31`, or a moment in ISO 8601. Throws ValidationException naming the option.
[[nodiscard]] Timestamp parse_moment(const std::string& text, const std::string& option);

}  // namespace errand::invoices
