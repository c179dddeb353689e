#include "engine/redis/entry.hpp"

#include <charconv>

namespace errand::redis {
namespace {

// The kinds of values that there are: texts, nil, and false.
constexpr unsigned char kNil = 0xc0;
constexpr unsigned char kFalse = 0xc2;
constexpr unsigned char kText8 = 0xd9;
constexpr unsigned char kText16 = 0xda;
constexpr unsigned char kText32 = 0xdb;
constexpr unsigned char kShortText = 0xa0;
constexpr unsigned char kShortTextMask = 0xe0;
constexpr std::size_t kText8Least = 32;  ///< bytes; shorter ones are short texts

/// The number of `bytes` bytes there, the greatest first; nothing if they are not all there.
std::optional<std::size_t> take_size(std::string_view& rest, std::size_t bytes) noexcept {
  if (rest.size() < bytes) return std::nullopt;
  std::size_t size = 0;
  for (const char byte : rest.substr(0, bytes))
    size = size << 8U | static_cast<unsigned char>(byte);
  rest.remove_prefix(bytes);
  return size;
}

/// The length of the text that begins with `kind`; nothing if it is none.
std::optional<std::size_t> text_size(unsigned char kind, std::string_view& rest) noexcept {
  if ((kind & kShortTextMask) == kShortText) return kind & ~kShortTextMask & 0xffU;
  if (kind == kText8) return take_size(rest, 1);
  if (kind == kText16) return take_size(rest, 2);
  if (kind == kText32) return take_size(rest, 4);
  return std::nullopt;
}

/// Of a text of so many bytes.
void add_head(std::string& packed, std::size_t size) {
  const auto add = [&](std::size_t value) { packed += static_cast<char>(value & 0xffU); };
  const auto add_size = [&](int bytes) {
    while (bytes-- > 0) add(size >> (8U * static_cast<unsigned>(bytes)));
  };
  if (size < kText8Least) {
    add(kShortText | size);
  } else if (size <= 0xffU) {
    add(kText8);
    add_size(1);
  } else if (size <= 0xffffU) {
    add(kText16);
    add_size(2);
  } else {
    add(kText32);
    add_size(4);
  }
}

}  // namespace

std::string pack(std::initializer_list<std::string_view> texts) {
  std::string packed;
  for (const std::string_view text : texts) {
    add_head(packed, text.size());
    packed += text;
  }
  return packed;
}

Entry::Entry(std::string_view packed) noexcept {
  for (std::string_view& field : fields_) {
    if (packed.empty()) return;
    const auto kind = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    if (kind == kNil || kind == kFalse) continue;
    const std::optional<std::size_t> size = text_size(kind, packed);
    if (!size || *size > packed.size()) return;
    field = packed.substr(0, *size);
    packed.remove_prefix(*size);
  }
}

std::optional<std::string> Entry::optional_text(Field field) const {
  if (!has(field)) return std::nullopt;
  return std::string{text(field)};
}

std::int64_t Entry::integer(Field field) const noexcept {
  std::int64_t number = 0;
  std::from_chars(text(field).data(), text(field).data() + text(field).size(), number);
  return number;
}

}  // namespace errand::redis
