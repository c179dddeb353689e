#pragma once

#include <optional>
#include <string>

#include "errand/timestamp.hpp"

#include "invoice_intake/extraction/report.hpp"
#include "invoice_intake/model/id.hpp"

namespace errand::invoices {

/// One row of invoices. Values are in the canonical form of Field::value; `line_items`, `fields`
/// and `warnings` are JSON.
struct Invoice {
  InvoiceId id = InvoiceId::generate();
  UserId user_id;
  std::optional<EmailTaskId> email_task_id{};
  std::optional<std::string> invoice_type{};
  std::optional<std::string> invoice_code{};
  std::string invoice_number{};
  std::optional<std::string> issue_date{};
  std::optional<std::string> seller_name{};
  std::optional<std::string> seller_tax_id{};
  std::optional<std::string> buyer_name{};
  std::optional<std::string> buyer_tax_id{};
  std::optional<std::string> amount{};
  std::optional<std::string> tax{};
  std::optional<std::string> total{};
  std::optional<std::string> total_in_capitals{};
  std::optional<std::string> check_code{};
  std::optional<std::string> drawer{};
  std::optional<std::string> remark{};
  std::string line_items = "[]";
  std::string fields = "{}";  ///< of each field that was found, its source and confidence
  double confidence = 0;
  std::string warnings = "[]";
  std::optional<std::string> attachment_path{};
  std::optional<std::string> attachment_sha256{};
  Timestamp created_at{};
};

/// The row for what was found. What a column cannot hold (a day that does not exist, an amount that
/// is none) is left out, with a warning.
[[nodiscard]] Invoice make_invoice(const UserId& user, const EmailTaskId& task,
                                   const ExtractedInvoice& found,
                                   const AttachmentReport& attachment);

}  // namespace errand::invoices
