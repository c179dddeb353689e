#pragma once

#include <string>
#include <string_view>

namespace errand::invoices {

/// Undoes what OCR adds to Chinese text: blanks beside Chinese characters go, and the brackets it
/// takes for others come back. Text as plain_text() gives it.
[[nodiscard]] std::string tidy_ocr(std::string_view text);

}  // namespace errand::invoices
