#include <array>
#include <fmt/ostream.h>
#include <fstream>
#include <functional>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "invoice_intake/commands/csv.hpp"
#include "invoice_intake/commands/invoice_filter.hpp"
#include "invoice_intake/commands/task_view.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

constexpr std::int64_t kPageSize = 500;

struct ExportCommand {
  InvoiceFilterOptions filter;
  std::string format = "csv";
  std::string output;
  bool json = false;
  bool excel = false;
};

void for_each_invoice(Session& session, const InvoiceFilter& filter,
                      const std::function<void(const Invoice&)>& use) {
  for (std::int64_t page = 1;; ++page) {
    const InvoicePage found = list_invoices(session, filter, page, kPageSize);
    for (const Invoice& invoice : found.items) use(invoice);
    if (page >= found.total_pages()) return;
  }
}

void write_csv(std::ostream& out, Session& session, const InvoiceFilter& filter, bool excel) {
  // Without the mark Excel takes UTF-8 for the system's old encoding.
  if (excel) out << "\xEF\xBB\xBF";
  out << "invoice_type,invoice_code,invoice_number,issue_date,seller_name,seller_tax_id,"
         "buyer_name,buyer_tax_id,amount,tax,total,total_in_capitals,check_code,drawer,remark,"
         "confidence,attachment,task_id,invoice_id\r\n";
  for_each_invoice(session, filter, [&](const Invoice& invoice) {
    const std::array<std::optional<std::string>, 19> cells{
        invoice.invoice_type,
        invoice.invoice_code,
        invoice.invoice_number,
        invoice.issue_date,
        invoice.seller_name,
        invoice.seller_tax_id,
        invoice.buyer_name,
        invoice.buyer_tax_id,
        invoice.amount,
        invoice.tax,
        invoice.total,
        invoice.total_in_capitals,
        invoice.check_code,
        invoice.drawer,
        invoice.remark,
        fmt::format("{:.3f}", invoice.confidence),
        invoice.attachment_path,
        invoice.email_task_id ? std::optional{invoice.email_task_id->text()} : std::nullopt,
        invoice.id.text()};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string text = cells[i].value_or("");
      out << (i == 0 ? "" : ",") << (excel ? excel_cell(text) : csv_cell(text));
    }
    out << "\r\n";
  });
}

void write_json(std::ostream& out, Session& session, const InvoiceFilter& filter) {
  const char* separator = "[\n";
  for_each_invoice(session, filter, [&](const Invoice& invoice) {
    out << separator << invoice_json(invoice);
    separator = ",\n";
  });
  out << (std::string_view{separator} == "[\n" ? "[]\n" : "\n]\n");
}

ExitCode export_invoices(const ExportCommand& command, Invocation& invocation) {
  const InvoiceFilter filter = command.filter.filter();
  if (command.excel && (command.json || command.format == "json")) {
    throw ConfigurationException{"--excel goes with CSV, not with JSON"};
  }
  const std::unique_ptr<Database> database = invocation.database();
  const Profile user = invocation.user(*database);
  std::ofstream file;
  if (!command.output.empty()) {
    file.open(command.output, std::ios::binary);
    if (!file) throw ConfigurationException{"--output: cannot write " + command.output};
    file.exceptions(std::ios::badbit);
  }
  std::ostream& out = command.output.empty() ? invocation.console.out : file;
  database->read(user.user_id, [&](Session& session) {
    if (command.json || command.format == "json") {
      write_json(out, session, filter);
    } else {
      write_csv(out, session, filter, command.excel);
    }
  });
  out.flush();
  return ExitCode::done;
}

}  // namespace

void add_invoices_export(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ExportCommand>();
  CLI::App& command = terminal::add_command(parent, "export", "Write all invoices as CSV or JSON");
  terminal::add_text(command, "--format", options->format, "FORMAT", "csv (default) or json")
      .one_of({"csv", "json"});
  add_json(command, options->json);
  terminal::add_flag(command, "--excel", options->excel,
                     "CSV as Excel opens it right: with a byte order mark, long numbers as text");
  terminal::add_text(command, "--output", options->output, terminal::kFileName,
                     "Where to (default: standard output)");
  add_invoice_filter(command, options->filter);
  add_user_option(command, invocation);
  add_dsn(command, invocation);
  terminal::add_examples(command,
                         {
                             "errand-invoices invoices export --from 2026-01-01 > invoices.csv",
                             "errand-invoices invoices export --excel --output invoices.csv",
                             "errand-invoices invoices export --format json | jq '.[].line_items'",
                         });
  runs(command, invocation, options, export_invoices);
}

}  // namespace errand::invoices
