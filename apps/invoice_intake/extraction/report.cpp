#include "invoice_intake/extraction/report.hpp"

#include "errand/codec.hpp"

namespace errand::invoices {

std::string to_json(const ExtractionReport& report) { return encode(report); }

ExtractionReport report_from_json(std::string_view json) { return decode<ExtractionReport>(json); }

std::string_view to_string(Source source) noexcept {
  switch (source) {
    case Source::xml:
      return "xml";
    case Source::ofd:
      return "ofd";
    case Source::qr:
      return "qr";
    case Source::text:
      return "text";
    case Source::ocr:
      return "ocr";
  }
  return "ocr";
}

std::string_view to_string(AttachmentStatus status) noexcept {
  switch (status) {
    case AttachmentStatus::processed:
      return "processed";
    case AttachmentStatus::ignored:
      return "ignored";
    case AttachmentStatus::failed:
      return "failed";
  }
  return "failed";
}

}  // namespace errand::invoices
