#include "invoice_intake/extraction/fields/ocr_text.hpp"

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

std::string_view bracket(std::string_view character) {
  if (character == "〈" || character == "《" || character == "〔" || character == "【") return "(";
  if (character == "〉" || character == "》" || character == "〕" || character == "】") return ")";
  return character;
}

bool is_wide(std::string_view character) {
  return character.size() >= 3 || character == "(" || character == ")" || character == "*";
}

}  // namespace

std::string tidy_ocr(std::string_view text) {
  const auto characters = characters_of(text);
  std::string tidy;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    if (characters[i] == " " && i > 0 && i + 1 < characters.size() &&
        (is_wide(characters[i - 1]) || is_wide(characters[i + 1]))) {
      continue;
    }
    tidy += bracket(characters[i]);
  }
  return tidy;
}

}  // namespace errand::invoices
