#include "engine/sqlite/settings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "core/dsn_options.hpp"

namespace errand::sqlite {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kOptions{"synchronous", "ttl", "busy_timeout"};

bool synchronous_full(const Dsn& dsn) {
  const std::string_view value = dsn.option("synchronous").value_or("full");
  if (value == "full") return true;
  if (value == "normal") return false;
  throw ConfigurationException{dsn.to_string() + ": synchronous=" + std::string{value} +
                               " is unknown; use synchronous=full or synchronous=normal"};
}

void refuse_unknown_options(const Dsn& dsn, std::span<const std::string_view> other_options) {
  for (const auto& [name, value] : dsn.options()) {
    if (std::ranges::find(kOptions, name) != kOptions.end()) continue;
    if (std::ranges::find(other_options, name) != other_options.end()) continue;
    std::string message = dsn.to_string();
    message.append(": SQLite has no option `").append(name).append("`; there are ");
    for (const std::string_view other : other_options) message.append(other).append(", ");
    throw ConfigurationException{message + "synchronous, ttl and busy_timeout"};
  }
}

}  // namespace

Database::Settings database_settings(const Dsn& dsn, const Clock& clock,
                                     std::span<const std::string_view> other_options) {
  refuse_unknown_options(dsn, other_options);
  // Before the aggregate: where a member's value throws, GCC 12 destroys those before it twice.
  const bool full = synchronous_full(dsn);
  const auto busy_timeout = detail::seconds_option(dsn, "busy_timeout", seconds{30});
  const auto ttl = detail::seconds_option(dsn, "ttl", kDefaultTtl);
  return Database::Settings{.connection = {.path = dsn.path(),
                                           .mode = Connection::Mode::create,
                                           .synchronous_full = full,
                                           .busy_timeout = busy_timeout},
                            .clock = &clock,
                            .ttl = ttl};
}

}  // namespace errand::sqlite
