#include "engine/postgres/libpq_uri.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace errand::postgres {
namespace {

constexpr std::array<std::string_view, 5> kOwnOptions{"ttl", "connections", "prepare", "listen",
                                                      "reply_timeout"};

}  // namespace

std::string libpq_uri(const Dsn& dsn) {
  const std::string_view text = dsn.secret_text();
  const std::size_t question = text.find('?');
  std::string uri{text.substr(0, question)};
  if (question == std::string_view::npos) return uri;
  std::string_view options = text.substr(question + 1);
  char separator = '?';
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find('&'));
    options.remove_prefix(std::min(options.size(), option.size() + 1));
    const std::string_view name = option.substr(0, option.find('='));
    if (option.empty() || std::ranges::find(kOwnOptions, name) != kOwnOptions.end()) continue;
    uri += separator;
    uri += option;
    separator = '&';
  }
  return uri;
}

}  // namespace errand::postgres
