#include "invoice_intake/extraction/extract.hpp"

#include <array>
#include <fmt/ostream.h>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "errand/errors.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "terminal/display.hpp"
#include "terminal/json_output.hpp"
#include "terminal/options.hpp"
#include "terminal/table.hpp"
#include "terminal/wording.hpp"

namespace errand::invoices {
namespace {

struct ExtractCommand {
  std::string file;
  bool json = false;
};

/// In words, behind the two digits.
std::string type_name(std::string_view digits) {
  constexpr std::array<std::pair<std::string_view, const char*>, 9> kNames{
      {{"01", "special"},
       {"04", "general"},
       {"10", "electronic general"},
       {"11", "roll"},
       {"14", "toll"},
       {"20", "electronic special"},
       {"31", "digital special"},
       {"32", "digital general"},
       {"51", "rail"}}};
  for (const auto& [known, name] : kNames) {
    if (known == digits) return std::string{" ("} + name + ")";
  }
  return "";
}

void print_invoice(const ExtractedInvoice& invoice, Console& console) {
  terminal::Table table{{{.title = "FIELD"},
                         {.title = "VALUE", .may_shrink = true},
                         {.title = "FROM"},
                         {.title = "SURE", .align = terminal::Column::Align::right}}};
  const auto row = [&](const char* name, const std::optional<Field>& field) {
    if (!field) return;
    table.add_row({name,
                   field->value,
                   std::string{to_string(field->source)},
                   {fmt::format("{:.2f}", field->confidence),
                    field->confidence < 0.9 ? terminal::Colour::yellow : terminal::Colour::none}});
  };
  std::optional<Field> type = invoice.invoice_type;
  if (type) type->value += type_name(type->value);
  row("type", type);
  row("code", invoice.code);
  row("number", invoice.number);
  row("issue date", invoice.issue_date);
  row("seller", invoice.seller_name);
  row("seller's tax id", invoice.seller_tax_id);
  row("buyer", invoice.buyer_name);
  row("buyer's tax id", invoice.buyer_tax_id);
  row("amount", invoice.amount);
  row("tax", invoice.tax);
  row("total", invoice.total);
  row("in capitals", invoice.total_in_capitals);
  row("check code", invoice.check_code);
  row("drawer", invoice.drawer);
  row("remark", invoice.remark);
  table.print(console.out, console.out_screen);
  if (!invoice.items.empty()) {
    using Align = terminal::Column::Align;
    terminal::Table items{{{.title = "ITEM", .may_shrink = true},
                           {.title = "QUANTITY", .align = Align::right},
                           {.title = "PRICE", .align = Align::right},
                           {.title = "AMOUNT", .align = Align::right},
                           {.title = "RATE", .align = Align::right},
                           {.title = "TAX", .align = Align::right}}};
    for (const LineItem& item : invoice.items) {
      items.add_row({item.name, item.quantity.value_or(""), item.unit_price.value_or(""),
                     item.amount.value_or(""), item.tax_rate.value_or(""), item.tax.value_or("")});
    }
    fmt::print(console.out, "\n");
    items.print(console.out, console.out_screen);
  }
  for (const std::string& warning : invoice.warnings) {
    fmt::print(console.out, "warning: {}\n", terminal::printable(warning));
  }
}

void print_report(const ExtractionReport& report, Console& console) {
  for (const AttachmentReport& attachment : report.attachments) {
    std::string why;
    if (attachment.reason) why = ": " + *attachment.reason;
    if (attachment.error) {
      why = ": " + attachment.error->message + " (" + attachment.error->code + ")";
    }
    fmt::print(console.out, "{}\n",
               terminal::printable(fmt::format(
                   "{} ({}, {}): {}{}", attachment.path, attachment.media_type,
                   terminal::format_span(std::chrono::milliseconds{attachment.milliseconds.total}),
                   to_string(attachment.status), why)));
    int number = 0;
    for (const ExtractedInvoice& invoice : attachment.invoices) {
      fmt::print(console.out, "\ninvoice {} of {}, {:.2f} sure\n", ++number,
                 attachment.invoices.size(), invoice.confidence);
      print_invoice(invoice, console);
      fmt::print(console.out, "\n");
    }
  }
  if (report.error) {
    fmt::print(console.out, "not read to the end: {} ({})\n",
               terminal::printable(report.error->message), terminal::printable(report.error->code));
  } else if (report.attachments.empty()) {
    fmt::print(console.out, "There is nothing in it\n");
  }
}

ExitCode extract_file(const ExtractCommand& command, Invocation& invocation) {
  if (!std::filesystem::is_regular_file(command.file)) {
    throw ConfigurationException{command.file + " is not a file, or cannot be read"};
  }
  const bool is_mail = command.file.ends_with(".eml") || command.file.ends_with(".EML");
  ExtractionOptions options;
  options.extractor = invocation.extractor_option;
  const ExtractionReport report =
      extract(command.file, is_mail ? InputKind::mail : InputKind::file, options);
  if (command.json) {
    terminal::print_json(invocation.console, to_json(report));
  } else {
    print_report(report, invocation.console);
  }
  bool any_invoice = false;
  for (const AttachmentReport& attachment : report.attachments) {
    any_invoice = any_invoice || !attachment.invoices.empty();
  }
  return any_invoice ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_extract(CLI::App& parent, Invocation& invocation) {
  const auto options = std::make_shared<ExtractCommand>();
  CLI::App& command = terminal::add_command(
      parent, "extract",
      "Read one file, without a database: what was found, where, how sure; exit status 1 if there "
      "is no invoice in it",
      kIntakeCommands);
  terminal::add_argument(command, "FILE", options->file, "An e-mail, PDF, OFD, XML, picture or zip")
      .required();
  add_extractor(command, invocation);
  add_json(command, options->json);
  terminal::add_examples(command, {"errand-invoices extract invoice.pdf",
                                   "errand-invoices extract mail.eml --json | jq ."});
  runs(command, invocation, options, extract_file);
}

}  // namespace errand::invoices
