#include "terminal/wording.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace errand::terminal {

std::string format_count(std::int64_t count) {
  const std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

namespace {

struct Unit {
  std::int64_t seconds;
  std::string_view name;
};
constexpr std::array kUnits{Unit{86'400, "d"}, Unit{3'600, "h"}, Unit{60, "min"}, Unit{1, "s"}};

}  // namespace

std::string format_span(std::chrono::milliseconds span) {
  using std::chrono::milliseconds;
  if (span < milliseconds{1000}) return fmt::format("{} ms", span.count());
  if (span < milliseconds{10'000}) {
    const auto tenths = span.count() / 100;
    return tenths % 10 == 0 ? fmt::format("{} s", tenths / 10)
                            : fmt::format("{}.{} s", tenths / 10, tenths % 10);
  }
  const std::int64_t seconds = span.count() / 1000;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const std::int64_t whole = seconds / kUnits[i].seconds;
    if (whole == 0) continue;
    std::string text = fmt::format("{} {}", whole, kUnits[i].name);
    if (i + 1 < kUnits.size()) {
      const std::int64_t rest = seconds % kUnits[i].seconds / kUnits[i + 1].seconds;
      if (rest > 0) text += fmt::format(" {} {}", rest, kUnits[i + 1].name);
    }
    return text;
  }
  return "0 s";
}

std::string format_short_age(Timestamp time, Timestamp now) {
  const auto age = std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::milliseconds>(now - time).count());
  for (const Unit& unit : kUnits) {
    if (age >= unit.seconds * 1000)
      return fmt::format("{} {}", age / 1000 / unit.seconds, unit.name);
  }
  return fmt::format("{} ms", age);
}

std::string format_age(Timestamp time, Timestamp now) {
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - time);
  if (age.count() == 0) return "now";
  return age.count() > 0 ? format_span(age) + " ago" : "in " + format_span(-age);
}

}  // namespace errand::terminal
