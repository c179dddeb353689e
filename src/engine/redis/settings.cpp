#include "engine/redis/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "errand/engine.hpp"
#include "errand/errors.hpp"

#include "core/document_rules.hpp"
#include "core/dsn_options.hpp"

namespace errand::redis {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 4> kOwnOptions{"ttl", "prefix", "database", "record"};

[[noreturn]] void refuse(const Dsn& dsn, const std::string& reason) {
  throw ConfigurationException{dsn.to_string() + ": " + reason};
}

/// A limit of no time would refuse everything.
std::chrono::milliseconds timeout_option(const Dsn& dsn, const char* name, seconds fallback) {
  const std::chrono::milliseconds time = detail::seconds_option(dsn, name, fallback);
  if (time.count() == 0) refuse(dsn, std::string{name} + " must be at least 1");
  return time;
}

std::int64_t database_of(const Dsn& dsn) {
  if (is_socket(dsn) || dsn.path().empty()) {
    return detail::number_option(dsn, "database", 0, 0, kLastDatabase);
  }
  if (dsn.option("database")) refuse(dsn, "the database is given twice");
  const std::string& text = dsn.path();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 ||
      number > kLastDatabase) {
    refuse(dsn, "what follows the host must be the number of a database, such as /0");
  }
  return number;
}

std::string prefix_of(const Dsn& dsn) {
  std::string prefix{dsn.option("prefix").value_or(std::string_view{})};
  try {
    if (!prefix.empty()) detail::check_label("prefix", prefix);
  } catch (const ValidationException& error) {
    refuse(dsn, error.what());
  }
  // SCAN takes these for patterns.
  if (prefix.find_first_of("*?[]\\^") != std::string::npos) {
    refuse(dsn, "a prefix has none of * ? [ ] \\ ^");
  }
  return prefix;
}

RecordKind record_of(const Dsn& dsn) {
  const std::string_view text = dsn.option("record").value_or("shared");
  for (const RecordKind kind : {RecordKind::shared, RecordKind::compact}) {
    if (text == to_string(kind)) return kind;
  }
  refuse(dsn, "record must be shared or compact");
}

}  // namespace

std::string_view to_string(RecordKind kind) {
  return kind == RecordKind::shared ? "shared" : "compact";
}

bool is_socket(const Dsn& dsn) { return dsn.scheme() == "redis+unix"; }

void check_option_names(const Dsn& dsn, std::span<const std::string_view> more) {
  std::vector<std::string_view> known{kConnectionOptions.begin(), kConnectionOptions.end()};
  known.insert(known.begin(), more.begin(), more.end());
  const bool tls = dsn.scheme() == "rediss";
  for (const auto& [name, value] : dsn.options()) {
    if (std::ranges::find(known, name) == known.end()) {
      refuse(dsn, fmt::format("there is no option {}; there are {}", name, fmt::join(known, ", ")));
    }
    if (!tls && (name == "ca" || name == "cert" || name == "key")) {
      refuse(dsn, name + " is for TLS; write rediss://");
    }
  }
  if (dsn.option("cert").has_value() != dsn.option("key").has_value()) {
    refuse(dsn, "cert and key go together: the file of a certificate and that of its key");
  }
}

ConnectionSettings connection_settings(const Dsn& dsn, std::int64_t database) {
  const auto file = [&](const char* name) {
    return std::string{dsn.option(name).value_or(std::string_view{})};
  };
  return {.socket = is_socket(dsn) ? dsn.path() : std::string{},
          .host = dsn.host(),
          .port = dsn.port().value_or(6379),
          .user = dsn.user(),
          .password = dsn.password(),
          .database = database,
          .tls = dsn.scheme() == "rediss",
          .ca = file("ca"),
          .cert = file("cert"),
          .key = file("key"),
          .durable = detail::switch_option(dsn, "durable", false),
          .connect_timeout = timeout_option(dsn, "connect_timeout", seconds{10}),
          .reply_timeout = timeout_option(dsn, "reply_timeout", seconds{60})};
}

std::size_t most_connections(const Dsn& dsn) {
  return static_cast<std::size_t>(detail::number_option(dsn, "connections", 10, 1, 1000));
}

DatabaseSettings settings_of(const Dsn& dsn) {
  check_option_names(dsn, kOwnOptions);
  return DatabaseSettings{.connection = connection_settings(dsn, database_of(dsn)),
                          .most_connections = most_connections(dsn),
                          .ttl = detail::seconds_option(dsn, "ttl", kDefaultTtl),
                          .prefix = prefix_of(dsn),
                          .record = record_of(dsn),
                          .many = DatabaseSettings{}.many};
}

}  // namespace errand::redis
