#include "invoice_intake/model/stored_text.hpp"

#include <glib.h>
#include <memory>

namespace errand::invoices {
namespace {

std::string clean(std::string_view text, std::size_t longest, bool keep_lines) {
  // No character takes more than four bytes: what lies behind cannot count.
  text = text.substr(0, longest * 4 + 4);
  std::string without_nul{text};
  for (char& c : without_nul) {
    if (c == '\0') c = ' ';
  }
  const std::unique_ptr<char, decltype(&g_free)> valid{
      g_utf8_make_valid(without_nul.data(), static_cast<gssize>(without_nul.size())), &g_free};
  std::string result;
  std::size_t count = 0;
  for (const char* at = valid.get(); *at != '\0' && count < longest; at = g_utf8_next_char(at)) {
    const gunichar c = g_utf8_get_char(at);
    if ((c == '\n' || c == '\t') && keep_lines) {
      result += static_cast<char>(c);
    } else if (g_unichar_iscntrl(c) != 0) {
      result += ' ';
    } else {
      result.append(at, static_cast<const char*>(g_utf8_next_char(at)));
    }
    ++count;
  }
  return result;
}

}  // namespace

std::string stored_text(std::string_view text, std::size_t longest) {
  return clean(text, longest, false);
}

std::string stored_lines(std::string_view text, std::size_t longest) {
  return clean(text, longest, true);
}

}  // namespace errand::invoices
