#include <fmt/format.h>

#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/not_found.hpp"
#include "invoice_intake/commands/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

struct ShowCommand {
  std::string id;
  bool json = false;
};

ExitCode show(const ShowCommand& command, Invocation& invocation) {
  const auto id = InvoiceId::from_string(command.id);
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  Console& console = invocation.console;
  database->read(user.user_id, [&](Session& session) {
    const std::optional<Invoice> invoice = find_invoice(session, id);
    if (!invoice) throw NotFound{user.email + " has no invoice " + id.text()};
    if (command.json) {
      terminal::print_json(console, invoice_json(*invoice));
    } else {
      print_invoice(console, *invoice);
    }
  });
  return ExitCode::done;
}

}  // namespace

void add_invoices_show(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ShowCommand>();
  CLI::App& command = terminal::add_command(
      parent, "show",
      "Show an invoice: each field, where it was read, how sure, and what is doubtful");
  terminal::add_argument(command, "INVOICE", options->id, "The invoice's id").required();
  add_user_option(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  runs(command, invocation, options, show);
}

}  // namespace errand::invoices
