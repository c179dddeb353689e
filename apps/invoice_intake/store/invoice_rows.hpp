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

/// Stores it, unless the user has that invoice: then it is not new, and the id is that one's. The
/// same is one with the same number and code; where a number of 8 digits came without its code, one
/// with the same number, date, total and seller.
[[nodiscard]] StoredInvoice store_invoice(Session& session, const Invoice& invoice);

/// nullopt if the user has none of that id.
[[nodiscard]] std::optional<Invoice> find_invoice(Session& session, const InvoiceId& id);

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
