#include "core/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace errand::detail {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

/// How many bytes from `at` on are ASCII, counted in whole words: documents mostly are.
std::size_t skip_ascii(std::string_view text, std::size_t at) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (at + 32 <= text.size()) {
    std::uint64_t words[4];
    std::memcpy(words, text.data() + at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
    at += sizeof words;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

/// The length of the well-formed sequence that begins at `at`; 0: there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return continues(1) ? 2 : 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first < 0xF5) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool past_unicode = first == 0xF4 && second >= 0x90;
    return continues(1) && continues(2) && continues(3) && !overlong && !past_unicode ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while ((at = skip_ascii(text, at)) < text.size()) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  for (;;) {
    const std::size_t bad = find_invalid_utf8(text);
    repaired.append(text.substr(0, bad));
    if (bad == std::string_view::npos) return repaired;
    repaired.append(kReplacement);
    text.remove_prefix(bad + 1);
  }
}

std::string repair_and_cut_utf8(std::string_view text, std::size_t max_bytes) {
  std::string repaired = repair_utf8(text.substr(0, max_bytes + 1));
  if (repaired.size() <= max_bytes) return repaired;
  std::size_t end = max_bytes < kEllipsis.size() ? 0 : max_bytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(repaired[end]) & 0xC0U) == 0x80U) --end;
  repaired.resize(end);
  if (max_bytes >= kEllipsis.size()) repaired.append(kEllipsis);
  return repaired;
}

bool has_control_character(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const bool c1 =
        byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    if (c1) return true;
  }
  return false;
}

}  // namespace errand::detail
