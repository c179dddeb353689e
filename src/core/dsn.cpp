#include "errand/dsn.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "errand/errors.hpp"

#include "core/dsn_text.hpp"
#include "core/utf8.hpp"

// Whatever is wrong with a DSN, any part of it may be a piece of a password that was not escaped.
// So messages quote the scheme and the names of options, and nothing else of the text.
namespace errand {
namespace {

constexpr std::string_view kForms =
    "\n  sqlite:path.db"
    "\n  sqlite:///absolute/path.db"
    "\n  postgresql://user:password@host:5432/database"
    "\n  mysql://user:password@host:3306/database"
    "\n  redis://user:password@host:6379/0"
    "\n  rediss://user:password@host:6379/0   (TLS)"
    "\n  redis+unix:///path/to.sock";

[[noreturn]] void refuse(const std::string& reason) {
  throw ConfigurationException{"wrong DSN: " + reason};
}

[[noreturn]] void refuse_showing_forms(const std::string& reason) {
  refuse(reason + "; the forms are:" + std::string{kForms});
}

struct Scheme {
  std::string_view name;
  std::string_view canonical;
  EngineKind kind;
};
constexpr std::array kSchemes{
    Scheme{"sqlite", "sqlite", EngineKind::sqlite},
    Scheme{"postgresql", "postgresql", EngineKind::postgres},
    Scheme{"postgres", "postgresql", EngineKind::postgres},
    Scheme{"mysql", "mysql", EngineKind::mysql},
    Scheme{"redis", "redis", EngineKind::redis},
    Scheme{"rediss", "rediss", EngineKind::redis},
    Scheme{"redis+unix", "redis+unix", EngineKind::redis},
};

/// What other programs call the same things.
struct ForeignScheme {
  std::string_view name;
  std::string_view meant;
};
constexpr std::array kForeignSchemes{
    ForeignScheme{"sqlite3", "sqlite"},   ForeignScheme{"pdo_sqlite", "sqlite"},
    ForeignScheme{"pgsql", "postgresql"}, ForeignScheme{"pdo_pgsql", "postgresql"},
    ForeignScheme{"psql", "postgresql"},  ForeignScheme{"mariadb", "mysql"},
    ForeignScheme{"mysqli", "mysql"},     ForeignScheme{"pdo_mysql", "mysql"},
    ForeignScheme{"valkey", "redis"},
};

std::string lower(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

bool is_scheme(std::string_view text) {
  constexpr std::size_t kMaxSchemeLength = 32;
  if (text.empty() || text.size() > kMaxSchemeLength) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' ||
           c == '_';
  });
}

/// A person who gives a bare file name wants SQLite. Only what cannot be a password is shown again.
[[noreturn]] void refuse_without_scheme(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '/';
  });
  const bool file = text.ends_with(".db") || text.ends_with(".sqlite") ||
                    text.ends_with(".sqlite3") || text.ends_with(".db3");
  if (plain && file) {
    const std::string slashes = text.starts_with('/') ? "//" : "";
    refuse("it has no scheme; for a SQLite file write sqlite:" + slashes + std::string{text});
  }
  refuse_showing_forms("it has no scheme");
}

const Scheme& find_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name = lower(text.substr(0, colon));
  if (colon == std::string_view::npos || !is_scheme(name)) refuse_without_scheme(text);
  for (const Scheme& scheme : kSchemes) {
    if (scheme.name == name) return scheme;
  }
  if (name == "doctrine") {
    refuse(
        "doctrine:// names a database connection that only the Symfony application knows; give "
        "the DSN of that database itself, such as postgresql://user:password@host:5432/database, "
        "in --dsn or ERRAND_DSN");
  }
  for (const ForeignScheme& foreign : kForeignSchemes) {
    if (foreign.name == name) {
      refuse("the scheme \"" + name + "\" is called \"" + std::string{foreign.meant} + "\" here");
    }
  }
  refuse_showing_forms("there is no scheme \"" + name + "\"");
}

void check_characters(std::string_view text) {
  constexpr std::size_t kMaxDsnBytes = 4096;
  if (text.empty()) refuse_showing_forms("it is empty");
  if (text.size() > kMaxDsnBytes) {
    refuse("it has " + std::to_string(text.size()) + " bytes; at most " +
           std::to_string(kMaxDsnBytes) + " are allowed");
  }
  const std::size_t bad = detail::find_invalid_utf8(text);
  if (bad != std::string_view::npos) {
    refuse("byte " + std::to_string(bad) + " is not UTF-8; write it as a percent escape");
  }
  if (detail::has_control_character(text)) {
    refuse("it holds a control character, such as a line break; write it as a percent escape");
  }
}

/// With one `@` in all there is one way to read who is the user and what the host.
void check_at_signs(const detail::DsnParts& parts, std::string_view text) {
  const auto count = std::count(text.begin(), text.end(), '@');
  if (count > 1 || (count == 1 && !parts.user_info)) {
    refuse(
        "an '@' may only stand between the password and the host; in a user name, password, "
        "database or option write '@' as %40, '/' as %2F, '?' as %3F, ':' as %3A");
  }
}

std::string decode_part(std::string_view raw, const std::string& what) {
  std::optional<std::string> decoded = detail::percent_decode(raw);
  if (!decoded) {
    refuse(what + " has a '%' without two hexadecimal digits, or a %00; write '%' as %25");
  }
  return std::move(*decoded);
}

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  if (read.ec != std::errc{} || read.ptr != end || port == 0) {
    refuse("the port must be a number from 1 to 65535");
  }
  return port;
}

struct HostAndPort {
  std::string host;
  std::optional<std::uint16_t> port;
};

HostAndPort parse_host_and_port(std::string_view text) {
  std::string_view host;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) refuse("the host begins with '[' and lacks the ']'");
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') {
      refuse("after the ']' of the host comes ':' and the port, or nothing");
    }
    const bool address = !host.empty() && host.find_first_not_of("0123456789abcdefABCDEF:.") ==
                                              std::string_view::npos;
    if (!address) refuse("what stands between '[' and ']' is not an IPv6 address");
  } else {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) {
      refuse("the host has several ':'; an IPv6 address stands in brackets: [::1]:5432");
    }
  }
  HostAndPort parsed{decode_part(host, "the host"), std::nullopt};
  if (!port.empty()) parsed.port = parse_port(port.substr(1));
  return parsed;
}

/// libpq takes a list, each host with a port of its own; an empty port is the default one.
HostAndPort parse_host_list(std::string_view text) {
  if (text.find(',') == std::string_view::npos) {
    if (text.ends_with(':')) text.remove_suffix(1);
    return parse_host_and_port(text);
  }
  HostAndPort list;
  while (true) {
    const std::size_t comma = text.find(',');
    list.host += parse_host_list(text.substr(0, comma)).host;
    if (comma == std::string_view::npos) return list;
    list.host += ',';
    text.remove_prefix(comma + 1);
  }
}

/// The file that `sqlite:` names.
std::string sqlite_path(const detail::DsnParts& parts) {
  if (parts.user_info || !parts.host_and_port.empty()) {
    refuse(
        "sqlite:// is followed by a host, and SQLite has none; write sqlite:relative.db, or "
        "sqlite:///absolute/path.db with three slashes");
  }
  std::string path = decode_part(parts.path, "the path");
  if (path.empty()) refuse("sqlite: names no file; write sqlite:path.db");
  if (path == ":memory:" || path == "/:memory:") {
    refuse(
        "a database in memory ends with its process, and tasks must not; write sqlite:path.db with "
        "a file, in a temporary directory if need be");
  }
  if (path.ends_with('/')) refuse("sqlite: names a directory; write sqlite:path.db with a file");
  return path;
}

void check_server_parts(std::string_view scheme, const std::string& host, const std::string& path) {
  const std::string name{scheme};
  if (name == "redis+unix") {
    if (!host.empty()) refuse("redis+unix names a socket, not a host: redis+unix:///path/to.sock");
    if (path.empty()) refuse("redis+unix names no socket: redis+unix:///path/to.sock");
    return;
  }
  if (name == "postgresql") return;
  if (host.empty()) refuse(name + ":// names no host: " + name + "://user:password@host/…");
  if (name == "mysql" && path.empty()) {
    refuse("mysql:// names no database: mysql://user:password@host:3306/database");
  }
}

}  // namespace

std::string_view to_string(EngineKind kind) noexcept {
  switch (kind) {
    case EngineKind::sqlite:
      return "sqlite";
    case EngineKind::postgres:
      return "postgres";
    case EngineKind::mysql:
      return "mysql";
    case EngineKind::redis:
      return "redis";
  }
  return "unknown";
}

Dsn::Dsn(std::string_view text) : text_{text} {
  check_characters(text);
  const Scheme& scheme = find_scheme(text);
  kind_ = scheme.kind;
  scheme_ = scheme.canonical;

  const detail::DsnParts parts = detail::split_dsn(text);
  if (kind_ == EngineKind::sqlite) {
    path_ = sqlite_path(parts);
  } else {
    if (!parts.has_authority) refuse_showing_forms(scheme_ + ": must be followed by //");
    check_at_signs(parts, text);
    parse_user_info(parts.user_info.value_or(std::string_view{}));
    HostAndPort where = kind_ == EngineKind::postgres ? parse_host_list(parts.host_and_port)
                                                      : parse_host_and_port(parts.host_and_port);
    host_ = std::move(where.host);
    port_ = where.port;
    const bool keep_slash = scheme_ == "redis+unix";
    path_ = decode_part(parts.path.substr(keep_slash || parts.path.empty() ? 0 : 1), "the path");
    check_server_parts(scheme_, host_, path_);
  }
  parse_options(parts.options);
}

void Dsn::parse_user_info(std::string_view text) {
  const std::size_t colon = text.find(':');
  // Redis had passwords before it had users: what stands alone is the password.
  const bool only_password = colon == std::string_view::npos && kind_ == EngineKind::redis;
  if (!only_password) user_ = decode_part(text.substr(0, colon), "the user name");
  if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
  if (colon != std::string_view::npos || only_password) {
    password_ = decode_part(text, "the password");
  }
}

void Dsn::parse_options(const std::vector<std::string_view>& options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string which = "option " + std::to_string(i + 1);
    const std::size_t equals = options[i].find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(which + " after the '?' is not of the form name=value");
    }
    std::string name = decode_part(options[i].substr(0, equals), which);
    std::string value = decode_part(options[i].substr(equals + 1), which);
    if (!options_.emplace(std::move(name), std::move(value)).second) {
      refuse(which + " after the '?' repeats an earlier one");
    }
  }
}

Dsn Dsn::from_environment(std::string_view explicit_dsn) {
  const auto parse = [](const std::string& source, std::string_view text) {
    try {
      return Dsn{text};
    } catch (const ConfigurationException& error) {
      throw ConfigurationException{source + ": " + error.what()};
    }
  };
  if (!explicit_dsn.empty()) return parse("--dsn", explicit_dsn);
  for (const char* variable : {"ERRAND_DSN", "MESSENGER_TRANSPORT_DSN"}) {
    const char* text = std::getenv(variable);
    if (text != nullptr && *text != '\0') return parse(variable, text);
  }
  return Dsn{"sqlite:errand.db"};
}

std::optional<std::string_view> Dsn::option(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second;
}

std::string Dsn::to_string() const {
  constexpr std::string_view kHidden = "***";
  const detail::DsnParts parts = detail::split_dsn(text_);
  std::string shown{parts.scheme};
  shown += parts.has_authority ? "://" : ":";
  if (parts.user_info) {
    const std::size_t colon = parts.user_info->find(':');
    if (colon != std::string_view::npos) {
      shown.append(parts.user_info->substr(0, colon + 1)).append(kHidden);
    } else {
      shown.append(kind_ == EngineKind::redis ? kHidden : *parts.user_info);
    }
    shown += '@';
  }
  shown.append(parts.host_and_port).append(parts.path);
  char separator = '?';
  for (const std::string_view option : parts.options) {
    const std::size_t equals = option.find('=');
    shown += separator;
    separator = '&';
    shown.append(option.substr(0, equals + 1));
    shown.append(detail::is_secret_option(option.substr(0, equals)) ? kHidden
                                                                    : option.substr(equals + 1));
  }
  return shown;
}

}  // namespace errand
