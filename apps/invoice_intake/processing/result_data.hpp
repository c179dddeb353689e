#pragma once

#include <optional>
#include <string>
#include <vector>

#include "errand/timestamp.hpp"

#include "invoice_intake/extraction/report.hpp"
#include "invoice_intake/model/invoice.hpp"

namespace errand::invoices {

/// What became of one invoice of an attachment.
struct InvoiceOutcome {
  Invoice invoice;
  bool is_new = false;  ///< false: the user had it already, and `invoice.id` is that one's
};

/// One attachment, and what was made of it.
struct AttachmentOutcome {
  const AttachmentReport* report = nullptr;
  bool unreached = false;  ///< stands for all that was not reached, and is no attachment itself
  std::vector<InvoiceOutcome> invoices{};
};

struct ProcessingDetails {
  Timestamp start_time{};
  Timestamp end_time{};
  std::string errand_task{};
};

/// How many of what. An attachment counts as processed if it succeeded or failed; those that hold
/// no invoice are ignored.
struct Summary {
  int total_attachments = 0;
  int processed = 0;
  int succeeded = 0;
  int failed = 0;
  int ignored = 0;
  int duplicates = 0;  ///< invoices that were there already
  int invoices_created = 0;
};
[[nodiscard]] Summary summarise(const std::vector<AttachmentOutcome>& attachments);

/// The document of result_data: summary, attachments, invoices, processing_details.
[[nodiscard]] std::string result_data_json(const std::vector<AttachmentOutcome>& attachments,
                                           const ProcessingDetails& details);

}  // namespace errand::invoices
