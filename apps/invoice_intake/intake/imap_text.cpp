#include "invoice_intake/intake/imap_text.hpp"

#include <glib.h>
#include <memory>
#include <utility>

#include "errand/errors.hpp"

namespace errand::invoices {
namespace {

using OwnedText = std::unique_ptr<char, decltype(&g_free)>;

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

/// What is not ASCII: base64 of UTF-16, with `,` for `/`, without padding, between & and -.
std::string shifted(std::string_view utf8) {
  glong units = 0;
  const std::unique_ptr<gunichar2, decltype(&g_free)> utf16{
      g_utf8_to_utf16(utf8.data(), static_cast<glong>(utf8.size()), nullptr, &units, nullptr),
      &g_free};
  std::string bytes;
  for (glong i = 0; i < units; ++i) {
    bytes += static_cast<char>(utf16.get()[i] >> 8);
    bytes += static_cast<char>(utf16.get()[i] & 0xff);
  }
  const OwnedText base64{
      g_base64_encode(reinterpret_cast<const guchar*>(bytes.data()), bytes.size()), &g_free};
  std::string text = "&";
  for (const char* at = base64.get(); *at != '\0' && *at != '='; ++at) {
    text += *at == '/' ? ',' : *at;
  }
  return text + "-";
}

}  // namespace

std::string imap_mailbox_name(std::string_view utf8) {
  if (g_utf8_validate(utf8.data(), static_cast<gssize>(utf8.size()), nullptr) == 0) {
    throw ConfigurationException{"--imap: the mailbox's name is not UTF-8"};
  }
  std::string name;
  for (std::size_t at = 0; at < utf8.size();) {
    if (is_plain(utf8[at])) {
      name += utf8[at];
      if (utf8[at] == '&') name += '-';
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < utf8.size() && !is_plain(utf8[end])) ++end;
    name += shifted(utf8.substr(at, end - at));
    at = end;
  }
  return name;
}

std::optional<std::string> fetched_body(ImapLine& line) {
  constexpr std::string_view kBody = "BODY[] ";
  const std::size_t at = line.text.find(kBody);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view value = std::string_view{line.text}.substr(at + kBody.size());
  if (value.starts_with('{') && !line.literals.empty()) return std::move(line.literals.front());
  if (!value.starts_with('"')) return std::nullopt;
  std::string body;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == '"') return body;
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    body += value[i];
  }
  return std::nullopt;  // it has no end
}

}  // namespace errand::invoices
