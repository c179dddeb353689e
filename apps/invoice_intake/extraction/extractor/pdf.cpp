#include "invoice_intake/extraction/extractor/pdf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <poppler-document.h>
#include <poppler-embedded-file.h>
#include <poppler-global.h>
#include <poppler-page-renderer.h>
#include <poppler-page.h>

#include "invoice_intake/extraction/fields/digital_xml.hpp"

namespace errand::invoices {
namespace {

/// The larger of OCR's sizes: a page is rendered once.
constexpr double kRenderWidth = static_cast<double>(OcrSize::large);
constexpr double kMinDpi = 36;
constexpr double kMaxDpi = 300;
constexpr int kMaxAttachedXml = 4'000'000;

}  // namespace

Pdf::Pdf(std::unique_ptr<poppler::document> document) : document_{std::move(document)} {}
Pdf::Pdf(Pdf&&) noexcept = default;
Pdf::~Pdf() = default;

std::optional<Pdf> Pdf::open(std::string_view bytes) {
  // Damaged files make it chatty; the outcome says enough.
  poppler::set_debug_error_function([](const std::string&, void*) {}, nullptr);
  if (bytes.size() > std::numeric_limits<int>::max()) return std::nullopt;
  std::unique_ptr<poppler::document> document{
      poppler::document::load_from_raw_data(bytes.data(), static_cast<int>(bytes.size()))};
  if (!document) return std::nullopt;
  return Pdf{std::move(document)};
}

bool Pdf::is_locked() const { return document_->is_locked(); }

int Pdf::pages() const { return document_->pages(); }

std::vector<Word> Pdf::words(int page) const {
  std::vector<Word> words;
  const std::unique_ptr<poppler::page> found{document_->create_page(page)};
  if (!found) return words;
  for (const poppler::text_box& box : found->text_list()) {
    const poppler::byte_array utf8 = box.text().to_utf8();
    const poppler::rectf place = box.bbox();
    words.push_back({std::string{utf8.data(), utf8.size()}, place.left(), place.top(),
                     place.right(), place.bottom(), 1});
  }
  return words;
}

Picture Pdf::render(int page, std::int64_t max_pixels) const {
  const std::unique_ptr<poppler::page> found{document_->create_page(page)};
  if (!found) return {};
  const poppler::rectf size = found->page_rect();
  const double width = std::abs(size.width()) / 72;
  const double height = std::abs(size.height()) / 72;
  if (!(width > 0) || !(height > 0)) return {};
  // A form on a tall page is as wide as on its own.
  const double wanted = std::clamp(kRenderWidth / width, kMinDpi, kMaxDpi);
  const double most = std::sqrt(static_cast<double>(max_pixels) / (width * height));
  const double dpi = std::min(wanted, most);
  if (dpi < kMinDpi) return {};
  poppler::page_renderer renderer;
  renderer.set_image_format(poppler::image::format_gray8);
  renderer.set_render_hint(poppler::page_renderer::antialiasing);
  renderer.set_render_hint(poppler::page_renderer::text_antialiasing);
  const poppler::image image = renderer.render_page(found.get(), dpi, dpi);
  if (!image.is_valid()) return {};
  return picture_of(reinterpret_cast<const unsigned char*>(image.const_data()), image.width(),
                    image.height(), image.bytes_per_row());
}

std::vector<std::string> Pdf::attached_xml() const {
  std::vector<std::string> found;
  if (!document_->has_embedded_files()) return found;
  for (const poppler::embedded_file* file : document_->embedded_files()) {
    if (!file->is_valid() || file->size() > kMaxAttachedXml) continue;
    const poppler::byte_array data = file->data();
    std::string bytes{data.data(), data.size()};
    if (looks_like_xml(bytes)) found.push_back(std::move(bytes));
  }
  return found;
}

}  // namespace errand::invoices
