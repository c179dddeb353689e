#include "invoice_intake/mail/parseable_part.hpp"

#include <algorithm>

namespace errand::invoices {
namespace {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// A name without blanks, then a colon. Lines of texts may look like that, too.
bool may_be_header(std::string_view line) noexcept {
  const std::size_t end = line.find_first_of(": \t");
  if (end == 0 || end == std::string_view::npos) return false;
  const std::size_t colon = line.find_first_not_of(" \t", end);
  return colon != std::string_view::npos && line[colon] == ':';
}

}  // namespace

std::string_view parseable_part(std::string_view message, const ParseLimits& limits) noexcept {
  std::size_t lines = 0;
  std::size_t all_headers = 0;
  std::size_t header = 0;    // bytes of the one that goes on
  bool may_continue = true;  // the line before was one that a header's rest may follow
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size() - 1) + 1;
    const std::string_view line = message.substr(begin, end - begin);
    const bool continues = may_continue && is_blank(line.front());
    if (!continues) header = 0;
    if (continues || line.starts_with("--") || may_be_header(line)) {
      header += line.size();
      all_headers += line.size();
      if (header > limits.header) return message.substr(0, end - (header - limits.header));
      if (++lines > limits.lines || all_headers > limits.headers) return message.substr(0, begin);
      may_continue = true;
    } else {
      may_continue = line == "\n" || line == "\r\n";  // the headers of a message inside may follow
    }
    begin = end;
  }
  return message;
}

}  // namespace errand::invoices
