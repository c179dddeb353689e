#pragma once

#include <memory>
#include <vector>

#include "invoice_intake/extraction/extractor/picture.hpp"
#include "invoice_intake/extraction/fields/page_lines.hpp"

namespace tesseract {
class TessBaseAPI;
}

namespace errand::invoices {

/// Letters from pictures. Loading the languages takes a fifth of a second: one object serves all
/// pages, and is filled when the first one needs it.
class Ocr {
 public:
  Ocr();
  ~Ocr();
  Ocr(const Ocr&) = delete;
  Ocr& operator=(const Ocr&) = delete;

  /// Throws std::runtime_error if the languages chi_sim and eng are not installed.
  [[nodiscard]] std::vector<Word> read(const Picture& picture);

 private:
  std::unique_ptr<tesseract::TessBaseAPI> engine_;
};

}  // namespace errand::invoices
