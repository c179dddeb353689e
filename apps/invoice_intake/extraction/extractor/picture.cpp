#include "invoice_intake/extraction/extractor/picture.hpp"

#include <algorithm>
#include <cmath>
#include <leptonica/allheaders.h>

namespace errand::invoices {
namespace {

/// Less than this is a dot.
constexpr int kMinSide = 32;
/// What pixBackgroundNormSimple() makes of paper.
constexpr l_uint32 kPaper = 200;

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

Picture straightened(Picture picture) {
  const Picture black{pixThresholdToBinary(picture.get(), 150)};
  l_float32 angle = 0;
  l_float32 sureness = 0;
  if (!black || pixFindSkew(black.get(), &angle, &sureness) != 0) return picture;
  if (sureness < 2 || std::abs(angle) < 0.05F) return picture;
  constexpr float kRadians = 3.14159265F / 180;
  Picture straight{
      pixRotate(picture.get(), angle * kRadians, L_ROTATE_AREA_MAP, L_BRING_IN_WHITE, 0, 0)};
  return straight ? std::move(straight) : std::move(picture);
}

/// Long straight strokes are the form's, not letters; OCR takes them for letters or for pictures.
void remove_rules(const Picture& picture) {
  const int long_stroke = std::max(40, pixGetWidth(picture.get()) / 16);
  const Picture black{pixThresholdToBinary(picture.get(), 150)};
  if (!black) return;
  const auto erase = [&](int width, int height, int thick_x, int thick_y) {
    const Picture rules{pixOpenBrick(nullptr, black.get(), width, height)};
    if (!rules) return;
    const Picture thick{pixDilateBrick(nullptr, rules.get(), thick_x, thick_y)};
    if (thick) pixSetMasked(picture.get(), thick.get(), kPaper);
  };
  erase(long_stroke, 1, 1, 5);
  erase(1, long_stroke, 5, 1);
}

DecodedPicture failed(std::string code, std::string message) {
  DecodedPicture result;
  result.error_code = std::move(code);
  result.error = std::move(message);
  return result;
}

std::string too_large(const std::string& what, int width, int height, std::int64_t max_pixels) {
  return what + " has " + std::to_string(width) + " × " + std::to_string(height) +
         " pixels; at most " + std::to_string(max_pixels / 1'000'000) + " million are read";
}

/// Directory by directory; each may have a size of its own. A page that cannot be read ends it,
/// with the pages before it and the reason.
DecodedPicture decode_tiff(std::string_view bytes, std::int64_t max_pixels,
                           std::int64_t max_pages) {
  const auto* data = reinterpret_cast<const l_uint8*>(bytes.data());
  DecodedPicture result;
  const auto end = [&](const char* code, std::string message) {
    result.error_code = code;
    result.error = std::move(message);
    return std::move(result);
  };
  for (std::int64_t page = 0;; ++page) {
    const auto index = static_cast<l_int32>(page);
    const std::string name = "page " + std::to_string(page + 1) + " of the picture";
    l_int32 width = 0;
    l_int32 height = 0;
    const bool is_there = readHeaderMemTiff(data, bytes.size(), index, &width, &height, nullptr,
                                            nullptr, nullptr, nullptr, nullptr) == 0;
    if (!is_there && page > 0) return result;
    if (!is_there) return end("damaged_picture", "the picture is damaged");
    if (page == max_pages) {
      return end("too_many_pages", "the picture has more than " + std::to_string(max_pages) +
                                       " pages; the first " + std::to_string(max_pages) +
                                       " were read");
    }
    if (std::int64_t{width} * height > max_pixels) {
      return end("picture_too_large", too_large(name, width, height, max_pixels));
    }
    Picture pix = grey_of(on_white(Picture{pixReadMemTiff(data, bytes.size(), index)}));
    if (!pix) return end("damaged_picture", name + " is damaged");
    result.pages.push_back(std::move(pix));
  }
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
    return failed("picture_too_large", too_large("the picture", width, height, max_pixels));
  }
  if (is_tiff(bytes)) return decode_tiff(bytes, max_pixels, max_pages);
  DecodedPicture result;
  if (Picture pix = grey_of(on_white(Picture{pixReadMem(data, bytes.size())}))) {
    result.pages.push_back(std::move(pix));
  }
  if (result.pages.empty()) return failed("damaged_picture", "the picture is damaged");
  return result;
}

int longest_side(const Picture& picture) {
  return std::max(pixGetWidth(picture.get()), pixGetHeight(picture.get()));
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

Picture reduced(const Picture& picture, int longest) {
  const float factor = static_cast<float>(longest) / static_cast<float>(longest_side(picture));
  return Picture{pixScale(picture.get(), factor, factor)};
}

Picture cleaned_for_ocr(const Picture& picture, OcrSize size) {
  const int width = pixGetWidth(picture.get());
  const int height = pixGetHeight(picture.get());
  if (width < kMinSide || height < kMinSide) return {};
  // A form on a portrait page is as wide as on its own: A4 is 210 mm wide, as the forms are.
  const double shape = std::min(1.0, 1.33 * width / height);
  const auto target = static_cast<int>(static_cast<int>(size) * shape);
  Picture clean = scaled_to_width(picture, std::max(target, kMinSide));
  if (clean) clean = straightened(std::move(clean));
  if (!clean) return clean;
  if (Picture even{pixBackgroundNormSimple(clean.get(), nullptr, nullptr)}) clean = std::move(even);
  remove_rules(clean);
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
