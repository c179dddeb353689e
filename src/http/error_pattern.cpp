#include "http/error_pattern.hpp"

#include <algorithm>

namespace errand::http {
namespace {

/// Longer words are not language: they are encoded bytes.
constexpr std::size_t kLongestWord = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Hyphens belong to it, so that an id is one word; what joins a path or encoded bytes, too.
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '/' || c == '+';
}

/// Of two slashes or more: `/srv/in/a`, and not `and/or`.
bool is_path(std::string_view word) { return std::ranges::count(word, '/') >= 2; }

}  // namespace

std::string error_pattern(std::string_view message) {
  std::string pattern;
  std::size_t i = 0;
  while (i < message.size()) {
    if (!is_word(message[i])) {
      pattern += message[i++];
      continue;
    }
    const std::size_t begin = i;
    while (i < message.size() && is_word(message[i])) ++i;
    const std::string_view word = message.substr(begin, i - begin);
    if (std::ranges::any_of(word, is_digit) || is_path(word) || word.size() > kLongestWord) {
      pattern += '#';
    } else {
      pattern += word;
    }
  }
  return pattern;
}

}  // namespace errand::http
