#include "terminal/display.hpp"

#include <clocale>
#include <cstdint>
#include <cwchar>
#include <fmt/format.h>

namespace errand::terminal {
namespace {

constexpr std::string_view kEllipsis = "…";

struct CodePoint {
  char32_t value = 0;
  std::string_view bytes;  ///< as they stand in the text
  bool valid = true;       ///< false: `bytes` is one byte that begins no UTF-8 sequence
};

/// The first code point of `text`, which must not be empty.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const CodePoint broken{byte(0), text.substr(0, 1), false};
  if (byte(0) < 0x80) return {byte(0), text.substr(0, 1)};

  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return broken;
  char32_t value = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return broken;
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
    return broken;
  }
  return {value, text.substr(0, length)};
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// Those with an escape of their own.
bool is_named(char32_t c) { return c == '\n' || c == '\r' || c == '\t'; }

/// Marks that make a text read otherwise than it is written.
bool reorders_text(char32_t c) {
  return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// Calls of wcwidth() know all of Unicode only in a UTF-8 locale, whatever the user's is.
class Utf8Locale {
 public:
  Utf8Locale() : previous_{uselocale(utf8())} {}
  ~Utf8Locale() { uselocale(previous_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t previous_;
};

std::size_t columns(char32_t c) {
  const int width = wcwidth(static_cast<wchar_t>(c));
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    text.remove_prefix(next.bytes.size());
    if (!next.valid || (next.value < 0x80 && is_control(next.value) && !is_named(next.value))) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned>(next.value));
    } else if (next.value == '\n') {
      shown += "\\n";
    } else if (next.value == '\r') {
      shown += "\\r";
    } else if (next.value == '\t') {
      shown += "\\t";
    } else if (is_control(next.value) || reorders_text(next.value)) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(next.value));
    } else {
      shown += next.bytes;
    }
  }
  return shown;
}

std::string printable_json(std::string_view json) {
  std::string shown;
  shown.reserve(json.size());
  while (!json.empty()) {
    const CodePoint next = first_code_point(json);
    json.remove_prefix(next.bytes.size());
    if (next.value == '\r') {
      shown += ' ';  // only between tokens: inside a string it would not be JSON
    } else if (!next.valid || reorders_text(next.value) ||
               (is_control(next.value) && next.value != '\n' && next.value != '\t')) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(next.value));
    } else {
      shown += next.bytes;
    }
  }
  return shown;
}

std::size_t display_width(std::string_view text) {
  const Utf8Locale locale;
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    text.remove_prefix(next.bytes.size());
    width += columns(next.value);
  }
  return width;
}

std::string truncate(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string{text};
  if (width == 0) return {};
  const Utf8Locale locale;
  std::string kept;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (used + columns(next.value) > width - 1) break;
    used += columns(next.value);
    text.remove_prefix(next.bytes.size());
    kept += next.bytes;
  }
  kept += kEllipsis;
  return kept;
}

}  // namespace errand::terminal
