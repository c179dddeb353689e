#pragma once

#include <optional>
#include <vector>

#include "invoice_intake/extraction/fields/page_lines.hpp"
#include "invoice_intake/extraction/fields/reading.hpp"

namespace errand::invoices {

/// What the text of one page says.
struct PageReading {
  /// Set if there is a number; otherwise the page is no invoice, or an unreadable one.
  std::optional<Reading> reading;
  /// Whether it has the labels of an invoice, whatever else could be read.
  bool has_invoice_labels = false;
  /// Whether it is text at all, and the right way up.
  bool is_legible = false;
};

/// Finds the fields of an invoice by their labels and places: the same for a PDF's text layer and
/// for OCR, which may have misread any character. `source` is text or ocr.
[[nodiscard]] PageReading read_page_text(std::vector<Word> words, Source source);

}  // namespace errand::invoices
