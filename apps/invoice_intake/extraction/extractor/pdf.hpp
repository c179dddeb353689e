#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "invoice_intake/extraction/extractor/picture.hpp"
#include "invoice_intake/extraction/fields/page_lines.hpp"

namespace poppler {
class document;
}

namespace errand::invoices {

/// A PDF in memory, which must outlive this.
class Pdf {
 public:
  /// nullopt: damaged.
  static std::optional<Pdf> open(std::string_view bytes);
  Pdf(Pdf&&) noexcept;
  ~Pdf();

  /// Needs a password that nobody has.
  [[nodiscard]] bool is_locked() const;
  [[nodiscard]] int pages() const;
  /// The text layer of a page; empty if it has none, or is damaged.
  [[nodiscard]] std::vector<Word> words(int page) const;
  /// Empty: it cannot be rendered within `max_pixels`.
  [[nodiscard]] Picture render(int page, std::int64_t max_pixels) const;
  /// XML files that are attached inside.
  [[nodiscard]] std::vector<std::string> attached_xml() const;

 private:
  explicit Pdf(std::unique_ptr<poppler::document> document);
  std::unique_ptr<poppler::document> document_;
};

}  // namespace errand::invoices
