#include "core/json_text.hpp"

#include <array>
#include <cstddef>

#include "core/utf8.hpp"

namespace errand::detail {
namespace {

/// For each byte: 0 if it stands for itself, the letter of its short escape, or 'u'.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (std::size_t control = 0; control < 0x20; ++control) escapes[control] = 'u';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

}  // namespace

void append_json_utf8(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out.push_back('"');
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const char escape = kEscapes[byte];
    if (escape == 0) [[likely]]
      continue;
    out.append(text.substr(copied, at - copied));
    copied = at + 1;
    out.push_back('\\');
    out.push_back(escape);
    if (escape == 'u') {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out.append("00");
      out.push_back(kDigits[byte >> 4U]);
      out.push_back(kDigits[byte & 0xFU]);
    }
  }
  out.append(text.substr(copied));
  out.push_back('"');
}

void append_json_string(std::string& out, std::string_view text) {
  if (find_invalid_utf8(text) == std::string_view::npos) [[likely]] {
    append_json_utf8(out, text);
  } else {
    append_json_utf8(out, repair_utf8(text));
  }
}

void JsonObjectText::begin_member(std::string_view name) {
  out_.push_back(empty_ ? '{' : ',');
  empty_ = false;
  append_json_string(out_, name);
  out_.push_back(':');
}

void JsonObjectText::add_string(std::string_view name, std::string_view value) {
  begin_member(name);
  append_json_string(out_, value);
}

void JsonObjectText::add_number(std::string_view name, long long value) {
  begin_member(name);
  out_.append(std::to_string(value));
}

void JsonObjectText::add_json(std::string_view name, std::string_view json) {
  begin_member(name);
  out_.append(json);
}

void JsonObjectText::close() { out_.append(empty_ ? "{}" : "}"); }

}  // namespace errand::detail
