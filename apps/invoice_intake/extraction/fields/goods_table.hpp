#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "invoice_intake/extraction/fields/page_lines.hpp"
#include "invoice_intake/extraction/fields/reading.hpp"

namespace errand::invoices {

struct GoodsTable {
  std::vector<LineItem> items;
  std::optional<Seen> amount;  ///< from the line 合计
  std::optional<Seen> tax;
};

/// Reads the lines between the table's head (项目名称 … 金额 税率 税额) and 合计. `total_top`:
/// where the line 价税合计 is, or negative.
[[nodiscard]] GoodsTable read_goods_table(const std::vector<PageLine>& lines, double total_top,
                                          Source source);

/// An amount as printed: with two decimals, perhaps ¥. OCR's commas for points are understood.
[[nodiscard]] std::optional<Money> printed_money(std::string_view text);

/// Whether the character can be part of printed_money().
[[nodiscard]] bool is_money_part(std::string_view character) noexcept;

}  // namespace errand::invoices
