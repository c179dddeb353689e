#pragma once

#include "invoice_intake/extraction/extractor/ocr.hpp"
#include "invoice_intake/extraction/extractor/walk.hpp"

namespace errand::invoices {

/// Finds the invoices in one document, by all means that its kind offers, and completes its report.
/// What a parser throws becomes the report's error.
void read_document(Document& document, const ExtractorRequest& request, Ocr& ocr);

}  // namespace errand::invoices
