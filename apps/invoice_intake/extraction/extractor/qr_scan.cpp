#define ZX_USE_UTF8 1
#include "invoice_intake/extraction/extractor/qr_scan.hpp"

#include <ZXing/ReadBarcode.h>
#include <cmath>

namespace errand::invoices {
namespace {

std::optional<FoundQr> scan(const Picture& picture) {
  const GreyPixels pixels = grey_pixels_of(picture);
  ZXing::DecodeHints hints;
  hints.setFormats(ZXing::BarcodeFormat::QRCode);
  hints.setTryHarder(true);
  hints.setTryRotate(true);
  const ZXing::ImageView view{pixels.bytes.data(), pixels.width, pixels.height,
                              ZXing::ImageFormat::Lum};
  for (const ZXing::Result& result : ZXing::ReadBarcodes(view, hints)) {
    if (!result.isValid()) continue;
    if (auto payload = parse_qr_payload(result.text())) {
      const auto quarters = static_cast<int>(std::lround(-result.orientation() / 90.0));
      return FoundQr{std::move(*payload), ((quarters % 4) + 4) % 4};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FoundQr> scan_qr(const Picture& picture) {
  if (auto found = scan(picture)) return found;
  // Small or blurred codes need more pixels a module, noisy ones fewer.
  const int width = grey_pixels_of(picture).width;
  for (const double factor : {2.0, 0.6, 1.5}) {
    const int target = static_cast<int>(width * factor);
    if (target > 5000 || target < 300) continue;
    const Picture other = scaled_to_width(picture, target);
    if (!other) continue;
    if (auto found = scan(other)) return found;
  }
  return std::nullopt;
}

}  // namespace errand::invoices
