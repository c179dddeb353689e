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

/// Decoded pages, and why there are none, or no more.
struct DecodedPicture {
  std::vector<Picture> pages;
  std::string error_code;  ///< empty: none
  std::string error;
};

/// JPEG, PNG, TIFF with several pages, BMP, GIF, WebP. The size is looked at before anything is
/// decoded.
[[nodiscard]] DecodedPicture decode_picture(std::string_view bytes, std::int64_t max_pixels,
                                            std::int64_t max_pages);

[[nodiscard]] int longest_side(const Picture& picture);

/// A copy of rows of grey pixels, `stride` bytes apart.
[[nodiscard]] Picture picture_of(const unsigned char* rows, int width, int height, int stride);

/// Turned clockwise by a multiple of 90 degrees.
[[nodiscard]] Picture turned(const Picture& picture, int quarters);

/// Scaled to that width.
[[nodiscard]] Picture scaled_to_width(const Picture& picture, int width);

/// Scaled down until its longest side is that long.
[[nodiscard]] Picture reduced(const Picture& picture, int longest);

/// How wide a form should be for OCR, in pixels. Blurred print is read better at one size, fine
/// print at another.
enum class OcrSize : int { normal = 1650, large = 2100 };

/// Ready for OCR: straightened, even background, no rules between cells.
[[nodiscard]] Picture cleaned_for_ocr(const Picture& picture, OcrSize size);

/// The grey bytes, row by row without padding.
struct GreyPixels {
  std::vector<unsigned char> bytes;
  int width = 0;
  int height = 0;
};
[[nodiscard]] GreyPixels grey_pixels_of(const Picture& picture);

}  // namespace errand::invoices
