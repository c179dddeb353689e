#pragma once

#include <string>

#include "invoice_intake/store/invoice_rows.hpp"
#include "terminal/cli11_fwd.hpp"

namespace errand::invoices {

/// Which invoices, on its way from the command line.
struct InvoiceFilterOptions {
  std::string task;
  std::string seller;
  std::string from;
  std::string until;
  double unsure = 0;

  /// Throws ValidationException naming the option that is wrong.
  [[nodiscard]] InvoiceFilter filter() const;
};

void add_invoice_filter(CLI::App& command, InvoiceFilterOptions& options);

}  // namespace errand::invoices
