#include "errand/timestamp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace errand {
namespace {

using std::chrono::days;
using std::chrono::microseconds;

constexpr Timestamp kFirst{};
constexpr Timestamp kLast =
    std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1} - microseconds{1};

/// Two or more decimal digits, ending before `end`.
void put_digits(char* end, std::int64_t number, int count) {
  for (; count > 0; --count) {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

/// `YYYY-MM-DD?hh:mm:ss.ffffff`
constexpr std::size_t kLongForm = 26;
constexpr std::size_t kWholeSeconds = 19;

/// Returns the fraction of a second.
microseconds put_long_form(char (&out)[kLongForm], Timestamp time, char separator) {
  time = std::clamp(time, kFirst, kLast);
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  put_digits(out + 4, static_cast<int>(date.year()), 4);
  out[4] = '-';
  put_digits(out + 7, static_cast<unsigned>(date.month()), 2);
  out[7] = '-';
  put_digits(out + 10, static_cast<unsigned>(date.day()), 2);
  out[10] = separator;
  put_digits(out + 13, clock.hours().count(), 2);
  out[13] = ':';
  put_digits(out + 16, clock.minutes().count(), 2);
  out[16] = ':';
  put_digits(out + 19, clock.seconds().count(), 2);
  out[19] = '.';
  put_digits(out + 26, clock.subseconds().count(), 6);
  return clock.subseconds();
}

/// Reads from the front of a text; the first thing that does not fit makes it fail for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return ok_ && rest_.empty(); }

  [[nodiscard]] char peek() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }

  void fail() noexcept { ok_ = false; }

  bool take(char expected) noexcept {
    if (peek() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char expected) noexcept { ok_ = take(expected) && ok_; }

  int digits(int count, int max) noexcept {
    int number = 0;
    for (; count > 0; --count) number = number * 10 + digit();
    if (number > max) ok_ = false;
    return number;
  }

  /// One to nine digits of a fraction.
  microseconds fraction() noexcept {
    std::int64_t number = 0;
    int count = 0;
    for (; peek() >= '0' && peek() <= '9'; ++count) {
      const int next = digit();
      if (count < 6) number = number * 10 + next;
    }
    if (count < 1 || count > 9) ok_ = false;
    for (; count < 6; ++count) number *= 10;
    return microseconds{number};
  }

 private:
  int digit() noexcept {
    const char c = peek();
    if (c < '0' || c > '9') {
      ok_ = false;
      return 0;
    }
    rest_.remove_prefix(1);
    return c - '0';
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// Date, separator, time and fraction, if there is one.
Timestamp scan_date_and_time(Scanner& scan, char separator) {
  const int year = scan.digits(4, 9999);
  scan.expect('-');
  const int month = scan.digits(2, 12);
  scan.expect('-');
  const int day = scan.digits(2, 31);
  scan.expect(separator);
  const int hours = scan.digits(2, 23);
  scan.expect(':');
  const int minutes = scan.digits(2, 59);
  scan.expect(':');
  const int seconds = scan.digits(2, 59);
  const microseconds fraction = scan.take('.') ? scan.fraction() : microseconds{0};

  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) {
    scan.fail();
    return {};
  }
  return std::chrono::sys_days{date} + std::chrono::hours{hours} + std::chrono::minutes{minutes} +
         std::chrono::seconds{seconds} + fraction;
}

/// `Z`, `+hh:mm`, `+hhmm` or `+hh`.
std::chrono::minutes scan_offset(Scanner& scan) {
  if (scan.take('Z')) return {};
  const int sign = scan.peek() == '-' ? -1 : 1;
  if (!scan.take('-')) scan.expect('+');
  const int hours = scan.digits(2, 23);
  int minutes = 0;
  if (scan.ok() && !scan.at_end()) {
    scan.take(':');
    minutes = scan.digits(2, 59);
  }
  return std::chrono::minutes{sign * (hours * 60 + minutes)};
}

std::optional<Timestamp> in_range(const Scanner& scan, Timestamp time) {
  if (!scan.at_end() || time < kFirst || time > kLast) return std::nullopt;
  return time;
}

}  // namespace

std::string to_iso8601(Timestamp time) {
  char text[kLongForm];
  const bool whole = put_long_form(text, time, 'T') == microseconds{0};
  std::string iso{text, whole ? kWholeSeconds : kLongForm};
  iso.push_back('Z');
  return iso;
}

std::optional<Timestamp> parse_iso8601(std::string_view text) {
  Scanner scan{text};
  const Timestamp local = scan_date_and_time(scan, 'T');
  const std::chrono::minutes offset = scan_offset(scan);
  return in_range(scan, local - offset);
}

std::string to_sql_time(Timestamp time) {
  char text[kLongForm];
  put_long_form(text, time, ' ');
  return std::string{text, kLongForm};
}

std::optional<Timestamp> parse_sql_time(std::string_view text) {
  Scanner scan{text};
  const Timestamp time = scan_date_and_time(scan, ' ');
  return in_range(scan, time);
}

}  // namespace errand
