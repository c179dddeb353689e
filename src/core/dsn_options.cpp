#include "core/dsn_options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "errand/errors.hpp"

#include "core/dsn_text.hpp"

namespace errand::detail {
namespace {

[[noreturn]] void refuse(const Dsn& dsn, std::string_view name, std::string_view value,
                         const std::string& what) {
  throw ConfigurationException{dsn.to_string() + ": " + std::string{name} + "=" +
                               std::string{value} + " is not " + what};
}

std::optional<std::int64_t> parse(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string percent_encode(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    const auto byte = static_cast<unsigned char>(c);
    escaped += plain ? std::string{c} : std::string{'%', kDigits[byte >> 4], kDigits[byte & 15U]};
  }
  return escaped;
}

}  // namespace

std::chrono::milliseconds seconds_option(const Dsn& dsn, std::string_view name,
                                         std::chrono::milliseconds fallback) {
  constexpr std::int64_t kLongest = 10'000'000'000;
  const auto text = dsn.option(name);
  if (!text) return fallback;
  const auto value = parse(*text);
  if (!value || *value < 0 || *value > kLongest) refuse(dsn, name, *text, "a number of seconds");
  return std::chrono::seconds{*value};
}

std::int64_t number_option(const Dsn& dsn, std::string_view name, std::int64_t fallback,
                           std::int64_t lowest, std::int64_t highest) {
  const auto text = dsn.option(name);
  if (!text) return fallback;
  const auto value = parse(*text);
  if (!value || *value < lowest || *value > highest) {
    refuse(dsn, name, *text,
           "a number of " + std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return *value;
}

Dsn with_option(const Dsn& dsn, std::string_view name, std::string_view value) {
  const std::string_view text = dsn.secret_text();
  const std::size_t question = text.find('?');
  std::string changed{text.substr(0, question)};
  char separator = '?';
  const auto add = [&](std::string_view option) {
    changed += separator;
    changed += option;
    separator = '&';
  };
  std::string_view options = question == std::string_view::npos ? "" : text.substr(question + 1);
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find('&'));
    options.remove_prefix(std::min(options.size(), option.size() + 1));
    if (option.substr(0, option.find('=')) != name && !option.empty()) add(option);
  }
  add(std::string{name} + "=" + percent_encode(value));
  return Dsn{changed};
}

Dsn with_queue(const Dsn& dsn, std::string_view queue) {
  if (dsn.kind() != EngineKind::redis) return with_option(dsn, "queue_name", queue);
  const std::string_view text = dsn.secret_text();
  const std::string_view path = split_dsn(text).path;
  if (dsn.scheme() == "redis+unix" || path.size() < 2) return with_option(dsn, "stream", queue);
  const std::size_t begin = static_cast<std::size_t>(path.data() - text.data()) + 1;
  const std::size_t size = path.substr(1).find('/');
  std::string changed{text};
  changed.replace(begin, std::min(size, path.size() - 1), percent_encode(queue));
  return Dsn{changed};
}

bool switch_option(const Dsn& dsn, std::string_view name, bool fallback) {
  const auto text = dsn.option(name);
  if (!text) return fallback;
  if (*text == "yes" || *text == "1" || *text == "true") return true;
  if (*text == "no" || *text == "0" || *text == "false") return false;
  refuse(dsn, name, *text, "yes or no");
}

}  // namespace errand::detail
