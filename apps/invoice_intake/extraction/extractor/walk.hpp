#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/protocol.hpp"

namespace errand::invoices {

/// One document to read. `report` has path, name, media type, size and hash already.
struct Document {
  std::string_view bytes;
  AttachmentReport report;
};

/// Reads the document and completes its report.
using ReadDocument = std::function<void(Document& document)>;

/// Goes through the message or file on `descriptor`, the messages and archives inside it, and calls
/// `read` for every document; writes the events of protocol.hpp on the way, but for the last one.
/// Returns what ended the walk early, if anything did.
[[nodiscard]] std::optional<ExtractionError> walk(int descriptor, const ExtractorRequest& request,
                                                  const ReadDocument& read);

}  // namespace errand::invoices
