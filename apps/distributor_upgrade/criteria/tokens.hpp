#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "distributor_upgrade/criteria/decimal.hpp"

namespace errand::distributors {

struct Token {
  enum class Kind : std::uint8_t { number, name, word, sign, end };
  Kind kind = Kind::end;
  std::string_view text{};  ///< into the criteria's text
  std::size_t begin = 0;
  Decimal number{};

  [[nodiscard]] bool is(std::string_view word_or_sign) const noexcept {
    return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
  }
  [[nodiscard]] std::size_t past() const noexcept { return begin + text.size(); }
};

/// The criteria's text cut into numbers, names, the words and/or/not, and signs; an `end` last.
/// Throws CriteriaException for what is none of them, with what was probably meant.
[[nodiscard]] std::vector<Token> cut_into_tokens(std::string_view text);

}  // namespace errand::distributors
