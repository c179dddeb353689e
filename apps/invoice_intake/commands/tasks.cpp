#include "invoice_intake/commands/commands.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {

void add_tasks(CLI::App& parent, Invocation& invocation) {
  CLI::App& tasks =
      terminal::add_command(parent, "tasks", "What was taken in, and how far it is", kLookCommands);
  terminal::require_command(tasks);
  add_tasks_list(tasks, invocation);
  add_tasks_show(tasks, invocation);
  add_tasks_change(tasks, invocation);
}

}  // namespace errand::invoices
