#include "distributor_upgrade/store/dsn_options.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace errand::distributors {
namespace {

constexpr std::array<std::string_view, 10> kOptionsOfErrand{
    "ttl",        "connections", "prepare",           "listen",     "reply_timeout",
    "table_name", "queue_name",  "redeliver_timeout", "auto_setup", "remove_after"};

std::string without(const Dsn& dsn, std::initializer_list<std::string_view> names) {
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

}  // namespace

std::string for_libpq(const Dsn& dsn) {
  Dsn rest = dsn;
  for (const std::string_view name : kOptionsOfErrand) rest = Dsn{without(rest, {name})};
  return rest.secret_text();
}

Dsn for_checks(const Dsn& dsn) {
  std::string text = dsn.secret_text();
  if (!dsn.option("queue_name")) text = with(std::move(text), "queue_name=async_messages");
  if (!dsn.option("remove_after")) text = with(std::move(text), "remove_after=604800");
  return Dsn{text};
}

Dsn for_failures(const Dsn& dsn) {
  const std::string text = without(dsn, {"table_name", "queue_name", "remove_after"});
  return Dsn{with(text, "table_name=failed_messages&queue_name=failed_messages")};
}

}  // namespace errand::distributors
