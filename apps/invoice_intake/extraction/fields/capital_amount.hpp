#pragma once

#include <optional>
#include <string_view>

#include "invoice_intake/extraction/money.hpp"

namespace errand::invoices {

/// 价税合计（大写）: "壹仟贰佰叁拾肆圆伍角陆分", with or without ⊗, 整 or 正, 圆 or 元, 零 where it
/// is usual and where it is not, "(负数)" in front for a negative amount. Text as plain_text()
/// gives it. nullopt: not an amount.
[[nodiscard]] std::optional<Money> parse_capital_amount(std::string_view text);

/// Whether the character occurs in amounts in capitals.
[[nodiscard]] bool is_capital_numeral(std::string_view character) noexcept;

}  // namespace errand::invoices
