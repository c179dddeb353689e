#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errand/export.hpp"

namespace errand {

enum class EngineKind : std::uint8_t { sqlite, postgres, mysql, redis };

[[nodiscard]] ERRAND_EXPORT std::string_view to_string(EngineKind kind) noexcept;

/// Where the storage is. Parsed and checked once, before anything starts.
///
///     sqlite:path.db                         relative to the working directory
///     sqlite:///abs/path.db
///     postgresql://user:password@host:5432/database?sslmode=require    (any libpq URI)
///     mysql://user:password@host:3306/database
///     redis://user:password@host:6379/0, rediss://… (TLS), redis+unix:///path/to.sock
///
/// Options follow as ?name=value&…; parts are percent-decoded. Nothing here ever prints a
/// password.
class ERRAND_EXPORT Dsn {
 public:
  /// Throws ConfigurationException: names the part that is wrong and the forms that are right,
  /// without the secret parts.
  explicit Dsn(std::string_view text);

  /// `explicit_dsn` if it is not empty, else $ERRAND_DSN, else $MESSENGER_TRANSPORT_DSN, else
  /// `sqlite:errand.db`. The error says which of them was wrong.
  [[nodiscard]] static Dsn from_environment(std::string_view explicit_dsn = {});

  [[nodiscard]] EngineKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }
  [[nodiscard]] const std::string& password() const noexcept { return password_; }
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept { return port_; }
  /// sqlite and redis+unix: the file; the others: what follows the host, without the slash.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& options() const noexcept {
    return options_;
  }
  [[nodiscard]] std::optional<std::string_view> option(std::string_view name) const;

  /// The text as given, secrets and all: for handing to a client library only.
  [[nodiscard]] const std::string& secret_text() const noexcept { return text_; }

  /// For people: passwords replaced by `***`.
  [[nodiscard]] std::string to_string() const;

 private:
  void parse_user_info(std::string_view text);
  void parse_options(const std::vector<std::string_view>& options);

  std::string text_;
  EngineKind kind_ = EngineKind::sqlite;
  std::string scheme_;
  std::string user_;
  std::string password_;
  std::string host_;
  std::optional<std::uint16_t> port_;
  std::string path_;
  std::map<std::string, std::string, std::less<>> options_;
};

}  // namespace errand
