#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Pix;

namespace errand::invoices {

struct DestroyPix {
  void operator()(Pix* pix) const noexcept;
};
/// A picture with 8 bits of grey a pixel.
using Picture = std::unique_ptr<Pix, DestroyPix>;

/// Decoded pages, or why not.
struct DecodedPicture {
  std::vector<Picture> pages;
  std::string error_code;  ///< empty: none
  std::string error;
};

/// JPEG, PNG, TIFF with several pages, BMP, GIF, WebP. The size is looked at before anything is
/// decoded.
[[nodiscard]] DecodedPicture decode_picture(std::string_view bytes, std::int64_t max_pixels,
                                            std::int64_t max_pages);

/// A copy of rows of grey pixels, `stride` bytes apart.
[[nodiscard]] Picture picture_of(const unsigned char* rows, int width, int height, int stride);

/// Turned clockwise by a multiple of 90 degrees.
[[nodiscard]] Picture turned(const Picture& picture, int quarters);

/// Scaled to that width.
[[nodiscard]] Picture scaled_to_width(const Picture& picture, int width);

/// Ready for OCR: straightened, even background, the size at which letters are read best.
[[nodiscard]] Picture cleaned_for_ocr(const Picture& picture);

/// The grey bytes, row by row without padding.
struct GreyPixels {
  std::vector<unsigned char> bytes;
  int width = 0;
  int height = 0;
};
[[nodiscard]] GreyPixels grey_pixels_of(const Picture& picture);

}  // namespace errand::invoices
