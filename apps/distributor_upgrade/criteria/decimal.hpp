#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand::distributors {

__extension__ using Int128 = __int128;  // GCC and Clang have it; -Wpedantic wants to be told

/// An exact decimal number: up to 27 digits, up to 9 of them behind the point. What it cannot hold
/// exactly it refuses; it never rounds, and money never meets binary floating point.
class Decimal {
 public:
  static constexpr int kMaxDigits = 27;
  static constexpr int kMaxPlaces = 9;

  constexpr Decimal() = default;
  constexpr Decimal(std::int64_t whole) : digits_{whole} {}  // NOLINT: a whole number is a decimal

  [[nodiscard]] static Decimal from_cents(std::int64_t cents);

  /// `5000`, `-12.5`: digits, and a point with digits behind it if wanted. nullopt for anything
  /// else and for what has too many of them.
  [[nodiscard]] static std::optional<Decimal> parse(std::string_view text);

  /// nullopt if it has parts of a cent, or more cents than 18 digits can count.
  [[nodiscard]] std::optional<std::int64_t> to_cents() const;

  // nullopt: the exact result has too many digits.
  [[nodiscard]] std::optional<Decimal> plus(const Decimal& other) const;
  [[nodiscard]] std::optional<Decimal> minus(const Decimal& other) const;
  [[nodiscard]] std::optional<Decimal> times(const Decimal& other) const;
  [[nodiscard]] Decimal negated() const;

  /// Without zeros that say nothing: `5000`, `12.5`.
  [[nodiscard]] std::string to_string() const;

  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) = default;

 private:
  /// Shortened to the fewest places, so that equal numbers have equal members.
  [[nodiscard]] static std::optional<Decimal> fitting(Int128 digits, int places);

  Int128 digits_ = 0;
  int places_ = 0;
};

/// An amount of money as people write it, always with two places: `5000.00`.
[[nodiscard]] std::string money_text(std::int64_t cents);

/// The cents of an amount that a withdrawal can have: more than 0, at most 999,999,999,999.99.
/// Throws ValidationException that says which of this `text` is not.
[[nodiscard]] std::int64_t parse_amount(std::string_view text);

}  // namespace errand::distributors
