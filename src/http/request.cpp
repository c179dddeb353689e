#include "http/request.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kMaxParameters = 64;

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Plus : std::uint8_t { is_plus, is_space };

std::string percent_decoded(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        throw Problem{400, "the address has a % that is not followed by two hexadecimal digits"};
      }
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (text[i] == '+' && plus == Plus::is_space) {
      decoded += ' ';
    } else {
      decoded += text[i];
    }
  }
  if (detail::find_invalid_utf8(decoded) != std::string::npos) {
    throw Problem{400, "the address is not UTF-8 once it is percent-decoded"};
  }
  if (detail::has_control_character(decoded)) {
    throw Problem{400, "the address has a control character"};
  }
  return decoded;
}

template <class Part>
void for_each_part(std::string_view text, char separator, const Part& part) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    part(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::delete_:
      return "DELETE";
    case Method::other:
      break;
  }
  return "OTHER";
}

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::reader:
      return "reader";
    case Role::operator_:
      return "operator";
    case Role::none:
      break;
  }
  return "none";
}

Target parse_target(std::string_view text) {
  if (text.empty() || text.front() != '/') {
    throw Problem{400, "the address must be a path that begins with /"};
  }
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  Target target;
  for_each_part(text.substr(1, question == std::string_view::npos ? question : question - 1), '/',
                [&](std::string_view part) {
                  std::string segment = percent_decoded(part, Plus::is_plus);
                  if (segment == "." || segment == "..") {
                    throw Problem{400, "the address must not have . or .. between slashes"};
                  }
                  target.segments.push_back(std::move(segment));
                });
  if (question == std::string_view::npos) return target;
  for_each_part(text.substr(question + 1), '&', [&](std::string_view part) {
    if (part.empty()) return;
    if (target.parameters.size() == kMaxParameters) {
      throw Problem{400, "the address has more than 64 parameters"};
    }
    const std::size_t equals = std::min(part.find('='), part.size());
    target.parameters.emplace_back(
        percent_decoded(part.substr(0, equals), Plus::is_space),
        percent_decoded(part.substr(std::min(equals + 1, part.size())), Plus::is_space));
  });
  return target;
}

std::string media_type(std::string_view content_type) {
  std::string type{content_type.substr(0, content_type.find(';'))};
  type.erase(type.find_last_not_of(" \t") + 1);
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type;
}

}  // namespace errand::http
