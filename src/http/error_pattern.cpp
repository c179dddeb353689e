#include "http/error_pattern.hpp"

#include <algorithm>

namespace errand::http {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Hyphens belong to it, so that an id is one word.
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

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
    if (std::ranges::any_of(word, is_digit)) {
      pattern += '#';
    } else {
      pattern += word;
    }
  }
  return pattern;
}

}  // namespace errand::http
