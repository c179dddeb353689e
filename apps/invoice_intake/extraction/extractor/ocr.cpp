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
    engine->SetPageSegMode(tesseract::PSM_SPARSE_TEXT);
    engine_ = std::move(engine);
  }
  engine_->SetImage(picture.get());
  engine_->SetSourceResolution(250);
  if (engine_->Recognize(nullptr) != 0) throw std::runtime_error{"OCR failed on the picture"};
  std::vector<Word> words;
  const std::unique_ptr<tesseract::ResultIterator> found{engine_->GetIterator()};
  if (!found) return words;
  constexpr auto kLevel = tesseract::RIL_SYMBOL;
  do {
    const std::unique_ptr<char[]> text{found->GetUTF8Text(kLevel)};
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
    if (!text || !found->BoundingBox(kLevel, &left, &top, &right, &bottom)) continue;
    int word_left = 0;
    int word_top = 0;
    int word_right = 0;
    int word_bottom = 0;
    // A point is as high as its word: lines are told apart by height.
    found->BoundingBox(tesseract::RIL_WORD, &word_left, &word_top, &word_right, &word_bottom);
    words.push_back({text.get(), static_cast<double>(left), static_cast<double>(word_top),
                     static_cast<double>(right), static_cast<double>(word_bottom),
                     static_cast<double>(found->Confidence(kLevel)) / 100});
  } while (found->Next(kLevel));
  engine_->Clear();
  return words;
}

}  // namespace errand::invoices
