#include "invoice_intake/extraction/fields/calendar_date.hpp"

#include <array>
#include <chrono>
#include <vector>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

std::optional<std::string> checked(int year, int month, int day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year},
                            std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || year < 1994 || year > 2099) return std::nullopt;
  const auto two = [](int number) {
    return std::string{static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
  };
  return std::to_string(year) + "-" + two(month) + "-" + two(day);
}

int number_of(std::string_view digits) {
  int number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number;
}

/// Takes up to `most` digits from the front.
std::string_view take_digits(std::string_view& text, std::size_t most) {
  std::size_t count = 0;
  while (count < most && count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool take_separator(std::string_view& text, std::string_view character) {
  for (const std::string_view separator :
       {character, std::string_view{"-"}, std::string_view{"/"}, std::string_view{"."}}) {
    if (text.starts_with(separator)) {
      text.remove_prefix(separator.size());
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> parse_calendar_date(std::string_view text) {
  const std::string plain = without_blanks(text.substr(0, 64));
  std::string_view rest = plain;
  const std::string_view year = take_digits(rest, 4);
  if (year.size() != 4) return std::nullopt;
  if (!rest.empty() && is_digit(rest.front())) {
    const std::string_view month = take_digits(rest, 2);
    const std::string_view day = take_digits(rest, 2);
    if (day.size() != 2) return std::nullopt;
    return checked(number_of(year), number_of(month), number_of(day));
  }
  if (!take_separator(rest, "年")) return std::nullopt;
  const std::string_view month = take_digits(rest, 2);
  if (month.empty() || !take_separator(rest, "月")) return std::nullopt;
  const std::string_view day = take_digits(rest, 2);
  if (day.empty()) return std::nullopt;
  return checked(number_of(year), number_of(month), number_of(day));
}

}  // namespace errand::invoices
