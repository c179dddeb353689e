#include "distributor_upgrade/store/dsn_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

constexpr std::array<std::string_view, 10> kOptionsOfErrand{
    "ttl",        "connections", "prepare",           "listen",     "reply_timeout",
    "table_name", "queue_name",  "redeliver_timeout", "auto_setup", "remove_after"};

std::string without(const Dsn& dsn, std::span<const std::string_view> names) {
  const std::string_view text = dsn.secret_text();
  const std::size_t question = std::min(text.find('?'), text.size());
  std::string kept{text.substr(0, question)};
  std::string_view options = text.substr(std::min(question + 1, text.size()));
  char separator = '?';
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find('&'));
    options.remove_prefix(std::min(options.size(), option.size() + 1));
    if (std::ranges::find(names, option.substr(0, option.find('='))) != names.end()) continue;
    kept += separator;
    kept += option;
    separator = '&';
  }
  return kept;
}

std::string with(std::string text, std::string_view option) {
  text += text.find('?') == std::string::npos ? '?' : '&';
  return text.append(option);
}

std::int64_t number(const Dsn& dsn, std::string_view name, std::int64_t fallback,
                    std::int64_t highest) {
  const auto text = dsn.option(name);
  if (!text) return fallback;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc{} && end == text->data() + text->size() && value >= 1 &&
      value <= highest) {
    return value;
  }
  throw ConfigurationException{dsn.to_string() + ": " + std::string{name} + "=" +
                               std::string{*text} + " is not a number of 1 to " +
                               std::to_string(highest)};
}

}  // namespace

PostgresOptions postgres_options(const Dsn& dsn) {
  PostgresOptions options;
  options.uri = without(dsn, kOptionsOfErrand);
  options.reply_timeout = std::chrono::seconds{number(dsn, "reply_timeout", 60, 86'400)};
  options.connections = static_cast<std::size_t>(number(dsn, "connections", 10, 1000));
  return options;
}

void check_sqlite_options(const Dsn& dsn) {
  constexpr std::array<std::string_view, 8> kKnown{
      "table_name",   "queue_name",  "redeliver_timeout", "auto_setup",
      "remove_after", "synchronous", "busy_timeout",      "ttl"};
  for (const auto& [name, value] : dsn.options()) {
    if (std::ranges::find(kKnown, name) != kKnown.end()) continue;
    std::string known;
    for (const std::string_view each : kKnown) {
      known.append(known.empty() ? "" : ", ").append(each);
    }
    std::string reason = dsn.to_string();
    reason.append(": SQLite has no option `").append(name).append("`; there are ").append(known);
    throw ConfigurationException{reason};
  }
}

Dsn for_checks(const Dsn& dsn) {
  std::string text = dsn.secret_text();
  if (!dsn.option("queue_name")) text = with(std::move(text), "queue_name=async_messages");
  if (!dsn.option("remove_after")) text = with(std::move(text), "remove_after=604800");
  return Dsn{text};
}

Dsn for_failures(const Dsn& dsn) {
  constexpr std::array<std::string_view, 3> kOfChecks{"table_name", "queue_name", "remove_after"};
  const std::string text = without(dsn, kOfChecks);
  return Dsn{with(text, "table_name=failed_messages&queue_name=failed_messages")};
}

}  // namespace errand::distributors
