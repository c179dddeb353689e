#include "invoice_intake/extraction/extractor/picture.hpp"

#include <algorithm>
#include <cmath>
#include <leptonica/allheaders.h>

namespace errand::invoices {
namespace {

/// Wide enough for the smallest print of a form 210 mm wide.
constexpr int kOcrWidth = 2100;
/// Less than this is a logo.
constexpr int kMinSide = 32;

Picture grey_of(Picture pix) {
  if (!pix) return pix;
  return Picture{pixConvertTo8(pix.get(), 0)};
}

/// Transparent pixels are paper.
Picture on_white(Picture pix) {
  if (pix && pixGetSpp(pix.get()) == 4) return Picture{pixAlphaBlendUniform(pix.get(), 0xFFFFFF00)};
  return pix;
}

bool is_tiff(std::string_view bytes) {
  return bytes.starts_with(std::string_view{"II*\0", 4}) ||
         bytes.starts_with(std::string_view{"MM\0*", 4});
}

DecodedPicture failed(std::string code, std::string message) {
  DecodedPicture result;
  result.error_code = std::move(code);
  result.error = std::move(message);
  return result;
}

}  // namespace

void DestroyPix::operator()(Pix* pix) const noexcept { pixDestroy(&pix); }

DecodedPicture decode_picture(std::string_view bytes, std::int64_t max_pixels,
                              std::int64_t max_pages) {
  const auto* data = reinterpret_cast<const l_uint8*>(bytes.data());
  l_int32 format = 0;
  l_int32 width = 0;
  l_int32 height = 0;
  if (pixReadHeaderMem(data, bytes.size(), &format, &width, &height, nullptr, nullptr, nullptr) !=
      0) {
    return failed("damaged_picture", "the picture is damaged, or of a kind that cannot be read");
  }
  if (std::int64_t{width} * height > max_pixels) {
    return failed("picture_too_large", "the picture has " + std::to_string(width) + " × " +
                                           std::to_string(height) + " pixels; at most " +
                                           std::to_string(max_pixels / 1'000'000) +
                                           " million are read");
  }
  DecodedPicture result;
  if (is_tiff(bytes)) {
    // Directory by directory; each may have a size of its own.
    for (std::int64_t page = 0; page < max_pages; ++page) {
      l_int32 page_width = 0;
      l_int32 page_height = 0;
      if (readHeaderMemTiff(data, bytes.size(), static_cast<l_int32>(page), &page_width,
                            &page_height, nullptr, nullptr, nullptr, nullptr, nullptr) != 0) {
        break;
      }
      if (std::int64_t{page_width} * page_height > max_pixels) break;
      Picture pix = grey_of(
          on_white(Picture{pixReadMemTiff(data, bytes.size(), static_cast<l_int32>(page))}));
      if (!pix) break;
      result.pages.push_back(std::move(pix));
    }
  } else if (Picture pix = grey_of(on_white(Picture{pixReadMem(data, bytes.size())}))) {
    result.pages.push_back(std::move(pix));
  }
  if (result.pages.empty()) return failed("damaged_picture", "the picture is damaged");
  return result;
}

Picture picture_of(const unsigned char* rows, int width, int height, int stride) {
  Picture picture{pixCreate(width, height, 8)};
  if (!picture) return picture;
  l_uint32* data = pixGetData(picture.get());
  const int words = pixGetWpl(picture.get());
  for (int y = 0; y < height; ++y) {
    l_uint32* line = data + static_cast<std::ptrdiff_t>(y) * words;
    const unsigned char* row = rows + static_cast<std::ptrdiff_t>(y) * stride;
    for (int x = 0; x < width; ++x) SET_DATA_BYTE(line, x, row[x]);
  }
  return picture;
}

Picture turned(const Picture& picture, int quarters) {
  return Picture{pixRotateOrth(picture.get(), ((quarters % 4) + 4) % 4)};
}

Picture scaled_to_width(const Picture& picture, int width) {
  const float factor = static_cast<float>(width) / static_cast<float>(pixGetWidth(picture.get()));
  return Picture{pixScale(picture.get(), factor, factor)};
}

Picture cleaned_for_ocr(const Picture& picture) {
  if (pixGetWidth(picture.get()) < kMinSide || pixGetHeight(picture.get()) < kMinSide) return {};
  const int longest = std::max(pixGetWidth(picture.get()), pixGetHeight(picture.get()));
  const bool portrait = pixGetHeight(picture.get()) > pixGetWidth(picture.get());
  const int width =
      portrait
          ? static_cast<int>(std::int64_t{kOcrWidth} * pixGetWidth(picture.get()) / longest * 4 / 3)
          : kOcrWidth;
  Picture clean = scaled_to_width(picture, std::max(width, kMinSide));
  if (!clean) return clean;
  const Picture black{pixThresholdToBinary(clean.get(), 150)};
  l_float32 angle = 0;
  l_float32 sureness = 0;
  if (black && pixFindSkew(black.get(), &angle, &sureness) == 0 && sureness > 2 &&
      std::abs(angle) > 0.05F) {
    constexpr float kRadians = 3.14159265F / 180;
    if (Picture straight{
            pixRotate(clean.get(), angle * kRadians, L_ROTATE_AREA_MAP, L_BRING_IN_WHITE, 0, 0)}) {
      clean = std::move(straight);
    }
  }
  if (Picture even{pixBackgroundNormSimple(clean.get(), nullptr, nullptr)}) clean = std::move(even);
  return clean;
}

GreyPixels grey_pixels_of(const Picture& picture) {
  GreyPixels pixels;
  pixels.width = pixGetWidth(picture.get());
  pixels.height = pixGetHeight(picture.get());
  pixels.bytes.resize(static_cast<std::size_t>(pixels.width) *
                      static_cast<std::size_t>(pixels.height));
  const l_uint32* data = pixGetData(picture.get());
  const int words = pixGetWpl(picture.get());
  unsigned char* out = pixels.bytes.data();
  for (int y = 0; y < pixels.height; ++y) {
    const l_uint32* line = data + static_cast<std::ptrdiff_t>(y) * words;
    for (int x = 0; x < pixels.width; ++x)
      *out++ = static_cast<unsigned char>(GET_DATA_BYTE(line, x));
  }
  return pixels;
}

}  // namespace errand::invoices
