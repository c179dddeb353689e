#pragma once

#include <vector>

#include "invoice_intake/extraction/fields/qr_payload.hpp"
#include "invoice_intake/extraction/fields/reading.hpp"
#include "invoice_intake/extraction/report.hpp"

namespace errand::invoices {

[[nodiscard]] Reading reading_of(const QrPayload& payload);

/// One invoice out of what several sources say about it. For each field the most trusted source
/// that has it wins; what other sources and the arithmetic of the invoice say about it raises or
/// lowers its confidence. `readings` must have a number among them.
[[nodiscard]] ExtractedInvoice combine(const std::vector<Reading>& readings);

}  // namespace errand::invoices
