#include "invoice_intake/extraction/extractor/ocr.hpp"

#include <stdexcept>
#include <tesseract/baseapi.h>

namespace errand::invoices {

Ocr::Ocr() = default;
Ocr::~Ocr() = default;

std::vector<Word> Ocr::read(const Picture& picture) {
  if (!engine_) {
    auto engine = std::make_unique<tesseract::TessBaseAPI>();
    if (engine->Init(nullptr, "chi_sim+eng", tesseract::OEM_LSTM_ONLY) != 0) {
      throw std::runtime_error{
          "OCR needs the packages tesseract-ocr-chi-sim and tesseract-ocr-eng"};
    }
    // A form is not paragraphs: find text wherever it is.
    engine->SetPageSegMode(tesseract::PSM_SPARSE_TEXT);
    engine->SetVariable("debug_file", "/dev/null");
    engine_ = std::move(engine);
  }
  engine_->SetImage(picture.get());
  engine_->SetSourceResolution(250);
  if (engine_->Recognize(nullptr) != 0) throw std::runtime_error{"OCR failed on the picture"};
  std::vector<Word> words;
  const std::unique_ptr<tesseract::ResultIterator> found{engine_->GetIterator()};
  if (!found) return words;
  // Words, not letters: the boxes of letters are guesses that may overlap and change places.
  constexpr auto kLevel = tesseract::RIL_WORD;
  do {
    const std::unique_ptr<char[]> text{found->GetUTF8Text(kLevel)};
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
    if (!text || !found->BoundingBox(kLevel, &left, &top, &right, &bottom)) continue;
    words.push_back({text.get(), static_cast<double>(left), static_cast<double>(top),
                     static_cast<double>(right), static_cast<double>(bottom),
                     static_cast<double>(found->Confidence(kLevel)) / 100});
  } while (found->Next(kLevel));
  engine_->Clear();
  return words;
}

}  // namespace errand::invoices
