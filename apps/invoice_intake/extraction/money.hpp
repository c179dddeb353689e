#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand::invoices {

/// An exact amount in yuan and fen. Never a double: 0.1 + 0.2 must be 0.3.
class Money {
 public:
  constexpr Money() = default;
  static constexpr Money from_fen(std::int64_t fen) noexcept { return Money{fen}; }

  /// Reads what people and machines write: "1234.5", "1,234.50", "￥1234.50", "-12", "-¥12.00",
  /// "(12.00)" as −12. More than two decimals are accepted only if the rest is zero. nullopt:
  /// anything else, or more than kMaxFen.
  [[nodiscard]] static std::optional<Money> parse(std::string_view text) noexcept;

  [[nodiscard]] constexpr std::int64_t fen() const noexcept { return fen_; }
  /// Always two decimals: "1234.50", "-0.05".
  [[nodiscard]] std::string to_string() const;

  friend constexpr Money operator+(Money a, Money b) noexcept { return Money{a.fen_ + b.fen_}; }
  friend constexpr Money operator-(Money a, Money b) noexcept { return Money{a.fen_ - b.fen_}; }
  friend constexpr Money operator-(Money a) noexcept { return Money{-a.fen_}; }
  friend constexpr auto operator<=>(Money, Money) = default;

  /// Ten thousand billion yuan: sums of nine thousand such amounts cannot overflow.
  static constexpr std::int64_t kMaxFen = 1'000'000'000'000'000;

 private:
  explicit constexpr Money(std::int64_t fen) noexcept : fen_{fen} {}
  std::int64_t fen_ = 0;
};

}  // namespace errand::invoices
