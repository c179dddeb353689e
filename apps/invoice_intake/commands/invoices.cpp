#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/invoice_filter.hpp"
#include "invoice_intake/commands/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct ListCommand {
  InvoiceFilterOptions filter;
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  bool json = false;
};

ExitCode list(const ListCommand& command, Invocation& invocation) {
  const InvoiceFilter filter = command.filter.filter();
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  Console& console = invocation.console;
  database->read(user.user_id, [&](Session& session) {
    const InvoicePage page = list_invoices(session, filter, command.page, command.page_size);
    if (command.json) {
      terminal::print_json(console, invoice_page_json(page));
      return;
    }
    if (!page.items.empty()) print_invoices(console, page.items);
    print_position(console, page.page, page.total_pages(), page.total, "invoices");
  });
  return ExitCode::done;
}

}  // namespace

void add_invoices(CLI::App& parent, Invocation& invocation) {
  CLI::App& invoices = terminal::add_command(parent, "invoices", "What was found", kLookCommands);
  terminal::require_command(invoices);

  const auto options = std::make_shared<ListCommand>();
  CLI::App& command = terminal::add_command(invoices, "list", "List invoices, the newest first");
  add_invoice_filter(command, options->filter);
  terminal::add_number(command, "--page", options->page, 1, 1'000'000, "Which page (default: 1)");
  terminal::add_number(command, "--page-size", options->page_size, 1, 1000,
                       "Invoices a page (default: 20)");
  add_user_option(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  terminal::add_examples(command, {
                                      "errand-invoices invoices list --seller 餐饮",
                                      "errand-invoices invoices list --unsure 0.9",
                                  });
  runs(command, invocation, options, list);

  add_invoices_show(invoices, invocation);
  add_invoices_export(invoices, invocation);
}

}  // namespace errand::invoices
