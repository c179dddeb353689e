#include "invoice_intake/commands/invoice_filter.hpp"

#include "invoice_intake/commands/commands.hpp"
#include "terminal/options.hpp"

namespace errand::invoices {
namespace {

std::optional<std::string> day_of(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  return to_iso8601(parse_moment(text, option)).substr(0, 10);
}

}  // namespace

InvoiceFilter InvoiceFilterOptions::filter() const {
  InvoiceFilter filter;
  if (!task.empty()) filter.task = EmailTaskId::from_string(task);
  filter.seller = seller;
  filter.issued_from = day_of(from, "--from");
  filter.issued_until = day_of(until, "--until");
  if (unsure > 0) filter.confidence_below = unsure;
  return filter;
}

void add_invoice_filter(CLI::App& command, InvoiceFilterOptions& options) {
  terminal::add_text(command, "--task", options.task, "TASK", "Only those that this task created");
  terminal::add_text(command, "--seller", options.seller, "TEXT",
                     "Only those with this in the seller's name");
  terminal::add_text(command, "--from", options.from, "DAY", "Issued on this day or later");
  terminal::add_text(command, "--until", options.until, "DAY", "Issued on this day or earlier");
  terminal::add_number(command, "--unsure", options.unsure, 0.0, 1.0,
                       "Only those whose confidence is below this");
}

}  // namespace errand::invoices
