#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "errand/dsn.hpp"

namespace errand::redis {

struct ConnectionSettings {
  std::string socket;  ///< the path of a Unix socket; empty: host and port
  std::string host;
  std::uint16_t port = 6379;
  std::string user;
  std::string password;
  std::int64_t database = 0;

  bool tls = false;
  std::string ca;    ///< file of certificates to trust; empty: the system's
  std::string cert;  ///< file of our own certificate; empty: none
  std::string key;   ///< file of its key

  bool durable = false;  ///< refuse a server that may lose what it has acknowledged
  std::chrono::milliseconds connect_timeout{10'000};
  /// For a reply of the server; longer means that it, or the way to it, is lost.
  std::chrono::milliseconds reply_timeout{60'000};

  friend bool operator==(const ConnectionSettings&, const ConnectionSettings&) = default;
};

/// How tasks are stored: for other programs to read and write, or in fewer keys.
enum class RecordKind { shared, compact };

[[nodiscard]] std::string_view to_string(RecordKind kind);

struct DatabaseSettings {
  ConnectionSettings connection;
  std::size_t most_connections = 10;
  std::chrono::milliseconds ttl{0};
  std::string prefix;  ///< of all keys
  RecordKind record = RecordKind::shared;
  /// From how many compact records on a claim makes a bundle of them, and a settle lets them expire
  /// together (scripts/keys.lua). No option: for tests, where one is many.
  std::int64_t many = 20;
};

/// Throws ConfigurationException that names what is wrong.
[[nodiscard]] DatabaseSettings settings_of(const Dsn& dsn);

/// The options of a DSN that concern the connection, whatever it is used for.
inline constexpr std::array<std::string_view, 7> kConnectionOptions{
    "connections", "connect_timeout", "reply_timeout", "durable", "ca", "cert", "key"};
inline constexpr std::int64_t kLastDatabase = 65'535;

/// What they say. The throwing ones throw ConfigurationException that names what is wrong.
[[nodiscard]] ConnectionSettings connection_settings(const Dsn& dsn, std::int64_t database);
[[nodiscard]] std::size_t most_connections(const Dsn& dsn);
/// Throws unless all options are among those of the connection and `more`.
void check_option_names(const Dsn& dsn, std::span<const std::string_view> more);
[[nodiscard]] bool is_socket(const Dsn& dsn);

}  // namespace errand::redis
