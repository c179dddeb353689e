#include "invoice_intake/extraction/fields/plain_text.hpp"

#include <algorithm>
#include <array>
#include <glib.h>
#include <memory>
#include <utility>

namespace errand::invoices {
namespace {

struct GlibFree {
  void operator()(char* text) const noexcept { g_free(text); }
};
using GlibText = std::unique_ptr<char, GlibFree>;

/// CJK Radicals Supplement: PDF writers use these like Kangxi radicals, but Unicode gives them no
/// compatibility mapping.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kRadicals{{
    {"⺟", "母"}, {"⺠", "民"}, {"⻁", "虎"}, {"⻄", "西"}, {"⻅", "见"}, {"⻆", "角"},
    {"⻉", "贝"}, {"⻋", "车"}, {"⻓", "长"}, {"⻔", "门"}, {"⻘", "青"}, {"⻙", "韦"},
    {"⻚", "页"}, {"⻛", "风"}, {"⻜", "飞"}, {"⻝", "食"}, {"⻢", "马"}, {"⻥", "鱼"},
    {"⻦", "鸟"}, {"⻨", "麦"}, {"⻩", "黄"}, {"⻬", "齐"}, {"⻮", "齿"}, {"⻰", "龙"},
}};

bool is_invisible(gunichar c) {
  return c == 0xFEFF || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2064) || (c < 0x20 && !g_unichar_isspace(c)) ||
         (c >= 0x7F && c <= 0x9F && c != 0x85);
}

std::string_view without_radical(std::string_view character) {
  const auto* found = std::find_if(kRadicals.begin(), kRadicals.end(),
                                   [&](const auto& pair) { return pair.first == character; });
  return found == kRadicals.end() ? character : found->second;
}

}  // namespace

std::string visible_text(std::string_view text) {
  const GlibText valid{g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()))};
  std::string visible;
  bool blank = false;
  for (const std::string_view character : characters_of(valid.get())) {
    const gunichar code = g_utf8_get_char(character.data());
    if (g_unichar_isspace(code)) {
      blank = !visible.empty();
    } else if (!is_invisible(code)) {
      if (std::exchange(blank, false)) visible += ' ';
      visible += character;
    }
  }
  return visible;
}

std::string plain_text(std::string_view text) {
  const GlibText valid{g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()))};
  const GlibText composed{g_utf8_normalize(valid.get(), -1, G_NORMALIZE_ALL_COMPOSE)};
  const std::string visible = visible_text(composed.get());
  std::string plain;
  for (const std::string_view character : characters_of(visible)) {
    plain += without_radical(character);
  }
  return plain;
}

std::string without_blanks(std::string_view text) {
  std::string plain = plain_text(text);
  std::erase(plain, ' ');
  return plain;
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    characters.push_back(text.substr(at, end - at));
    at = end;
  }
  return characters;
}

bool is_all_digits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace errand::invoices
