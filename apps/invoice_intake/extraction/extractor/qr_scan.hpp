#pragma once

#include <optional>

#include "invoice_intake/extraction/extractor/picture.hpp"
#include "invoice_intake/extraction/fields/qr_payload.hpp"

namespace errand::invoices {

struct FoundQr {
  QrPayload payload;
  int quarters = 0;  ///< clockwise quarter turns that set the page upright
};

/// The invoice's QR code on the page, however the page lies. Codes that say something else are
/// passed over. nullopt: none, or none that can be read.
[[nodiscard]] std::optional<FoundQr> scan_qr(const Picture& picture);

}  // namespace errand::invoices
