#include "core/dsn_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace errand::detail {
namespace {

/// What comes before the first of `separators`; `rest` keeps the separator and what follows.
std::string_view take_until(std::string_view& rest, std::string_view separators) {
  const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end);
  return part;
}

std::vector<std::string_view> split_options(std::string_view query) {
  std::vector<std::string_view> options;
  while (!query.empty()) {
    query.remove_prefix(1);
    options.push_back(take_until(query, "&"));
  }
  return options;
}

}  // namespace

DsnParts split_dsn(std::string_view text) {
  DsnParts parts;
  parts.scheme = take_until(text, ":");
  text.remove_prefix(1);
  if (text.starts_with("//")) {
    parts.has_authority = true;
    text.remove_prefix(2);
    std::string_view authority = take_until(text, "/?");
    const std::size_t at = authority.rfind('@');
    if (at != std::string_view::npos) {
      parts.user_info = authority.substr(0, at);
      authority.remove_prefix(at + 1);
    }
    parts.host_and_port = authority;
  }
  parts.path = take_until(text, "?");
  parts.options = split_options(text);
  return parts;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    if (text.front() != '%') {
      decoded.append(take_until(text, "%"));
      continue;
    }
    if (text.size() < 3) return std::nullopt;
    unsigned char byte = 0;
    const char* end = text.data() + 3;
    const auto read = std::from_chars(text.data() + 1, end, byte, 16);
    if (read.ptr != end || byte == 0) return std::nullopt;
    decoded.push_back(static_cast<char>(byte));
    text.remove_prefix(3);
  }
  return decoded;
}

bool is_secret_option(std::string_view raw_name) {
  std::string name = percent_decode(raw_name).value_or(std::string{raw_name});
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const auto holds = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  // libpq: password, sslpassword; Symfony's Redis transport: auth.
  return holds("pass") || holds("pwd") || holds("secret") || holds("token") || holds("auth");
}

}  // namespace errand::detail
