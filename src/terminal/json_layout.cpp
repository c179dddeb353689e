#include "terminal/json_layout.hpp"

#include <cstddef>

namespace errand::terminal {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The length of the string literal that `json` begins with, quotes included.
std::size_t literal_length(std::string_view json) {
  for (std::size_t i = 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      return i + 1;
    }
  }
  return json.size();
}

char first_token(std::string_view json) {
  while (!json.empty() && is_space(json.front())) json.remove_prefix(1);
  return json.empty() ? '\0' : json.front();
}

}  // namespace

std::string indent_json(std::string_view json) {
  std::string text;
  std::size_t level = 0;
  const auto new_line = [&] { text.append(1, '\n').append(2 * level, ' '); };
  while (!json.empty()) {
    const char c = json.front();
    if (c == '"') {
      const std::size_t length = literal_length(json);
      text += json.substr(0, length);
      json.remove_prefix(length);
      continue;
    }
    json.remove_prefix(1);
    if (is_space(c)) continue;
    if (c == '{' || c == '[') {
      text += c;
      const char next = first_token(json);
      if (next == '}' || next == ']') continue;
      ++level;
      new_line();
    } else if (c == '}' || c == ']') {
      const bool is_empty = !text.empty() && (text.back() == '{' || text.back() == '[');
      if (!is_empty && level > 0) {
        --level;
        new_line();
      }
      text += c;
    } else if (c == ',') {
      text += c;
      new_line();
    } else if (c == ':') {
      text += ": ";
    } else {
      text += c;
    }
  }
  return text;
}

std::string compact_json(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  while (!json.empty()) {
    const std::size_t length = json.front() == '"' ? literal_length(json) : 1;
    if (!is_space(json.front())) text += json.substr(0, length);
    json.remove_prefix(length);
  }
  return text;
}

}  // namespace errand::terminal
