#include "bus/php_serialized.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace errand::detail {
namespace {

constexpr std::string_view kEnvelope = "Symfony\\Component\\Messenger\\Envelope";
/// The same as it begins a body, with its slashes; and that in base64.
constexpr std::string_view kSlashedStart = "O:36:\\\"Symfony\\\\Component\\\\Messenger\\\\Envelope";
constexpr std::string_view kBase64Start = "TzozNjpcIlN5bWZvbnlc";

/// PHP's stripslashes().
std::string without_slashes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
    } else {
      ++i;
      plain += text[i] == '0' ? '\0' : text[i];
    }
  }
  return plain;
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFFU);
    }
  }
  return bytes;
}

/// Walks PHP's serialization format without building anything. Each step returns false at the first
/// byte that does not fit.
class Walker {
 public:
  explicit Walker(std::string_view text) : left_{text} {}

  /// At an envelope: the class of the object under its property `message`.
  [[nodiscard]] std::optional<std::string> message_class() {
    std::string_view name;
    std::size_t properties = 0;
    if (!take("O:") || !quoted(name) || name != kEnvelope || !count(properties)) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < properties; ++i) {
      std::string_view property;
      if (!take("s:") || !quoted(property) || !take(";")) return std::nullopt;
      // A private property is called NUL class NUL name.
      if (property.ends_with(std::string_view{"\0message", 8})) return object_class();
      if (!skip_value(kMostDepth)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kMostDepth = 200;

  [[nodiscard]] std::optional<std::string> object_class() {
    std::string_view name;
    if (!take("O:") && !take("C:") && !take("E:")) return std::nullopt;
    if (!quoted(name)) return std::nullopt;
    return std::string{name};
  }

  bool take(std::string_view text) {
    if (!left_.starts_with(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }

  bool number(std::size_t& value) {
    const char* begin = left_.data();
    const auto [end, error] = std::from_chars(begin, begin + left_.size(), value);
    if (error != std::errc{}) return false;
    left_.remove_prefix(static_cast<std::size_t>(end - begin));
    return true;
  }

  /// `5:"bytes"`
  bool quoted(std::string_view& bytes) {
    std::size_t length = 0;
    if (!number(length) || !take(":\"") || left_.size() < length) return false;
    bytes = left_.substr(0, length);
    left_.remove_prefix(length);
    return take("\"");
  }

  /// `:2:{`
  bool count(std::size_t& value) { return take(":") && number(value) && take(":{"); }

  bool up_to(char end) {
    const std::size_t place = left_.find(end);
    if (place == std::string_view::npos) return false;
    left_.remove_prefix(place + 1);
    return true;
  }

  bool skip_members(std::size_t members, int depth) {
    for (std::size_t i = 0; i < members; ++i) {
      if (!skip_value(depth) || !skip_value(depth)) return false;
    }
    return take("}");
  }

  bool skip_value(int depth) {
    if (depth == 0 || left_.empty()) return false;
    std::string_view bytes;
    std::size_t members = 0;
    switch (left_.front()) {
      case 'N':
        return take("N;");
      case 'b':
      case 'i':
      case 'd':
      case 'r':
      case 'R':
        return up_to(';');
      case 's':
      case 'E':
        left_.remove_prefix(1);
        return take(":") && quoted(bytes) && take(";");
      case 'a':
        left_.remove_prefix(1);
        return count(members) && skip_members(members, depth - 1);
      case 'O':
        return take("O:") && quoted(bytes) && count(members) && skip_members(members, depth - 1);
      case 'C':
        if (!take("C:") || !quoted(bytes) || !count(members) || left_.size() < members)
          return false;
        left_.remove_prefix(members);
        return take("}");
      default:
        return false;
    }
  }

  std::string_view left_;
};

}  // namespace

bool looks_php_serialized(std::string_view body) {
  return body.starts_with(kSlashedStart) || body.starts_with(kBase64Start);
}

std::optional<std::string> php_message_class(std::string_view body) {
  if (!looks_php_serialized(body)) return std::nullopt;
  if (body.ends_with('}')) return Walker{without_slashes(body)}.message_class();
  const std::optional<std::string> slashed = from_base64(body);
  if (!slashed) return std::nullopt;
  return Walker{without_slashes(*slashed)}.message_class();
}

}  // namespace errand::detail
