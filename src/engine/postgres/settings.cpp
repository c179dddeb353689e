#include "engine/postgres/settings.hpp"

#include <chrono>

#include "errand/engine.hpp"

#include "core/dsn_options.hpp"
#include "engine/postgres/libpq_uri.hpp"

namespace errand::postgres {

using std::chrono::seconds;

DatabaseSettings database_settings(const Dsn& dsn,
                                   std::span<const std::string_view> other_options) {
  return DatabaseSettings{
      .connection = {.uri = libpq_uri(dsn, other_options),
                     .prepare = detail::switch_option(dsn, "prepare", true),
                     .reply_timeout =
                         seconds{detail::number_option(dsn, "reply_timeout", 60, 1, 86'400)}},
      .most_connections =
          static_cast<std::size_t>(detail::number_option(dsn, "connections", 10, 1, 1000)),
      .ttl = detail::seconds_option(dsn, "ttl", kDefaultTtl),
      .listen = detail::switch_option(dsn, "listen", true)};
}

}  // namespace errand::postgres
