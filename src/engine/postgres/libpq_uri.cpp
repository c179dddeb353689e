#include "engine/postgres/libpq_uri.hpp"

#include <algorithm>
#include <array>
#include <libpq-fe.h>
#include <string_view>

#include "errand/errors.hpp"

namespace errand::postgres {
namespace {

constexpr std::array<std::string_view, 5> kOwnOptions{"ttl", "connections", "prepare", "listen",
                                                      "reply_timeout"};

std::string without_own_options(const Dsn& dsn, std::span<const std::string_view> other_options) {
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
    if (option.empty() || std::ranges::find(kOwnOptions, name) != kOwnOptions.end() ||
        std::ranges::find(other_options, name) != other_options.end()) {
      continue;
    }
    uri += separator;
    uri += option;
    separator = '&';
  }
  return uri;
}

}  // namespace

std::string libpq_uri(const Dsn& dsn, std::span<const std::string_view> other_options) {
  std::string uri = without_own_options(dsn, other_options);
  char* error = nullptr;
  PQconninfoOption* options = PQconninfoParse(uri.c_str(), &error);
  const bool understood = options != nullptr;
  PQconninfoFree(options);
  if (understood) return uri;
  std::string reason = error != nullptr ? error : "libpq cannot read it";
  PQfreemem(error);
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  // Of a URI that it does not understand libpq may show all, the password too.
  if (reason.find(uri) != std::string::npos) reason = "libpq cannot read it";
  std::string own = "ttl, connections, prepare, listen and reply_timeout";
  for (const std::string_view other : other_options) own = std::string{other} + ", " + own;
  throw ConfigurationException{dsn.to_string() + ": " + reason +
                               "; the options are those of libpq, and " + own};
}

}  // namespace errand::postgres
