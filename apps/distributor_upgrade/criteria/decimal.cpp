#include "distributor_upgrade/criteria/decimal.hpp"

#include <algorithm>
#include <utility>

#include "errand/errors.hpp"

namespace errand::distributors {
namespace {

constexpr int kCentPlaces = 2;
constexpr std::int64_t kLargestAmount = 99'999'999'999'999;
constexpr Int128 kLargestCents = 999'999'999'999'999'999;

constexpr Int128 power_of_ten(int exponent) {
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr Int128 kBound = power_of_ten(Decimal::kMaxDigits);

}  // namespace

std::optional<Decimal> Decimal::fitting(Int128 digits, int places) {
  while (places > 0 && digits % 10 == 0) {
    digits /= 10;
    --places;
  }
  if (places > kMaxPlaces || digits >= kBound || digits <= -kBound) return std::nullopt;
  Decimal number;
  number.digits_ = digits;
  number.places_ = places;
  return number;
}

Decimal Decimal::from_cents(std::int64_t cents) { return *fitting(cents, kCentPlaces); }

std::optional<Decimal> Decimal::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point < text.size() ? text.substr(point + 1) : "";
  if (whole.empty() || (point < text.size() && fraction.empty())) return std::nullopt;
  Int128 digits = 0;
  int places = 0;
  const auto append = [&](std::string_view part) {
    return std::ranges::all_of(part, [&](char c) {
      if (c < '0' || c > '9' || digits >= kBound) return false;
      digits = digits * 10 + (c - '0');
      return true;
    });
  };
  if (!append(whole) || fraction.size() > kMaxPlaces || !append(fraction)) return std::nullopt;
  places = static_cast<int>(fraction.size());
  return fitting(negative ? -digits : digits, places);
}

std::optional<std::int64_t> Decimal::to_cents() const {
  if (places_ > kCentPlaces) return std::nullopt;
  const Int128 cents = digits_ * power_of_ten(kCentPlaces - places_);
  if (cents > kLargestCents || cents < -kLargestCents) return std::nullopt;
  return static_cast<std::int64_t>(cents);
}

std::optional<Decimal> Decimal::plus(const Decimal& other) const {
  // 27 digits with 9 more behind them are fewer than the 38 that Int128 can hold.
  const int places = std::max(places_, other.places_);
  return fitting(digits_ * power_of_ten(places - places_) +
                     other.digits_ * power_of_ten(places - other.places_),
                 places);
}

std::optional<Decimal> Decimal::minus(const Decimal& other) const { return plus(other.negated()); }

std::optional<Decimal> Decimal::times(const Decimal& other) const {
  Int128 product = 0;
  if (__builtin_mul_overflow(digits_, other.digits_, &product)) return std::nullopt;
  return fitting(product, places_ + other.places_);
}

Decimal Decimal::negated() const {
  Decimal number = *this;
  number.digits_ = -digits_;
  return number;
}

std::string Decimal::to_string() const {
  Int128 rest = digits_ < 0 ? -digits_ : digits_;
  std::string text;
  for (int i = 0; rest > 0 || i <= places_; ++i) {
    if (i > 0 && i == places_) text += '.';
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (digits_ < 0) text += '-';
  std::ranges::reverse(text);
  return text;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const int places = std::max(a.places_, b.places_);
  const Int128 left = a.digits_ * power_of_ten(places - a.places_);
  const Int128 right = b.digits_ * power_of_ten(places - b.places_);
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::string money_text(std::int64_t cents) {
  const std::string digits = Decimal{cents}.to_string();
  const bool negative = digits.starts_with('-');
  std::string text = negative ? digits.substr(1) : digits;
  if (text.size() <= kCentPlaces) text.insert(0, kCentPlaces + 1 - text.size(), '0');
  text.insert(text.size() - kCentPlaces, ".");
  return negative ? "-" + text : text;
}

std::int64_t parse_amount(std::string_view text) {
  const auto refuse = [&](const std::string& reason) {
    return ValidationException{"the amount '" + std::string{text.substr(0, 40)} + "' " + reason};
  };
  const std::optional<Decimal> number = Decimal::parse(text);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto has_digits_only = [](std::string_view part) {
    return part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  // More digits than a Decimal has may still be a number to whoever wrote it.
  const bool is_long = !number && point > Decimal::kMaxDigits - Decimal::kMaxPlaces &&
                       has_digits_only(text.substr(0, point));
  if (is_long || (number && *number > Decimal::from_cents(kLargestAmount))) {
    throw refuse("is more than " + money_text(kLargestAmount));
  }
  if (!number) {
    throw refuse("is not a number; write digits, and a point before the cents: 1250 or 1250.50");
  }
  const std::optional<std::int64_t> cents = number->to_cents();
  if (!cents) throw refuse("has parts of a cent; two digits behind the point are the most");
  if (*cents <= 0) throw refuse("is not more than 0");
  return *cents;
}

}  // namespace errand::distributors
