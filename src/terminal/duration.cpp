#include "terminal/duration.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "errand/errors.hpp"

#include "terminal/display.hpp"

namespace errand::terminal {
namespace {

constexpr double kLongestMs = 100.0 * 365 * 24 * 60 * 60 * 1000;

std::optional<double> milliseconds_in(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s") return 1000;
  if (unit == "m" || unit == "min") return 60.0 * 1000;
  if (unit == "h") return 60.0 * 60 * 1000;
  if (unit == "d") return 24.0 * 60 * 60 * 1000;
  return std::nullopt;
}

std::optional<double> parse(std::string_view text) {
  // from_chars() also reads "inf", "nan" and "-1", which are numbers but no durations.
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  const std::optional<double> unit =
      milliseconds_in(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!unit || number * *unit > kLongestMs) return std::nullopt;
  return number * *unit;
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
  const std::optional<double> duration = parse(text);
  if (!duration) {
    throw ValidationException{
        fmt::format("'{}' is not a duration: write 500ms, 5s, 2m, 1h, 7d, or a number of seconds",
                    printable(text))};
  }
  return std::chrono::milliseconds{std::llround(*duration)};
}

}  // namespace errand::terminal
