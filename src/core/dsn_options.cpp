#include "core/dsn_options.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "errand/errors.hpp"

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

bool switch_option(const Dsn& dsn, std::string_view name, bool fallback) {
  const auto text = dsn.option(name);
  if (!text) return fallback;
  if (*text == "yes" || *text == "1" || *text == "true") return true;
  if (*text == "no" || *text == "0" || *text == "false") return false;
  refuse(dsn, name, *text, "yes or no");
}

}  // namespace errand::detail
