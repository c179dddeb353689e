#include "core/document_rules.hpp"

#include <string>

#include "errand/errors.hpp"

#include "core/utf8.hpp"

namespace errand::detail {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
  throw ValidationException{std::string{name} + ": " + reason};
}

void check_utf8(std::string_view name, std::string_view text) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != std::string_view::npos) {
    refuse(name, "must be UTF-8, and is not at byte " + std::to_string(bad));
  }
}

}  // namespace

void check_document(std::string_view name, std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    refuse(name, "has " + std::to_string(text.size()) + " bytes; at most " +
                     std::to_string(max_bytes) + " are allowed");
  }
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    refuse(name, "must not hold NUL, and does at byte " + std::to_string(nul));
  }
  check_utf8(name, text);
}

void check_label(std::string_view name, std::string_view text) {
  // MySQL's index on a utf8mb4 column of this many characters is as long as it can be.
  constexpr std::size_t kMaxLabelBytes = 190;
  if (text.empty()) refuse(name, "must not be empty");
  if (text.size() > kMaxLabelBytes) {
    refuse(name, "has " + std::to_string(text.size()) + " bytes; at most " +
                     std::to_string(kMaxLabelBytes) + " are allowed");
  }
  check_utf8(name, text);
  if (has_control_character(text)) refuse(name, "must not hold control characters");
}

}  // namespace errand::detail
