#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/not_found.hpp"
#include "invoice_intake/commands/task_view.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

constexpr std::int64_t kMostInvoices = 1000;

struct ShowCommand {
  std::string id;
  bool json = false;
};

ExitCode show(const ShowCommand& command, Invocation& invocation) {
  const auto id = EmailTaskId::from_string(command.id);
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  Console& console = invocation.console;
  database->read(user.user_id, [&](Session& session) {
    const std::optional<EmailProcessingTask> task = find_task(session, id);
    if (!task) throw NotFound{id, user};
    const std::vector<Invoice> invoices =
        list_invoices(session, {.task = id}, 1, kMostInvoices).items;
    if (command.json) {
      terminal::print_json(console, task_detail_json(*task, invoices));
    } else {
      print_task(console, *task, invoices);
    }
  });
  return ExitCode::done;
}

}  // namespace

void add_tasks_show(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ShowCommand>();
  CLI::App& command =
      terminal::add_command(parent, "show", "Show a task, its attachments and its invoices");
  terminal::add_argument(command, "TASK", options->id, "The task's id").required();
  add_user_option(command, invocation);
  add_json(command, options->json);
  add_dsn(command, invocation);
  runs(command, invocation, options, show);
}

}  // namespace errand::invoices
