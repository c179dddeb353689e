#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invoice_intake/model/invoice.hpp"
#include "invoice_intake/store/database.hpp"

/// The rows of invoices, in a session of their user.
namespace errand::invoices {

struct StoredInvoice {
  InvoiceId id;
  bool is_new = false;
};

/// Stores it, unless the user has an invoice of that code and number: then it is not new, and the
/// id is that one's.
[[nodiscard]] StoredInvoice store_invoice(Session& session, const Invoice& invoice);

struct InvoiceFilter {
  std::optional<EmailTaskId> task{};
  std::string seller{};                       ///< a part of its name, in any case
  std::optional<std::string> issued_from{};   ///< 2025-02-01: this day or later
  std::optional<std::string> issued_until{};  ///< this day or earlier
  std::optional<double> confidence_below{};
};

struct InvoicePage {
  std::vector<Invoice> items{};
  std::int64_t total = 0;
  std::int64_t page = 1;
  std::int64_t page_size = 20;
  [[nodiscard]] std::int64_t total_pages() const { return (total + page_size - 1) / page_size; }
};

/// The newest first. `page` counts from 1.
[[nodiscard]] InvoicePage list_invoices(Session& session, const InvoiceFilter& filter,
                                        std::int64_t page, std::int64_t page_size);

}  // namespace errand::invoices
