#include "invoice_intake/extraction/fields/goods_table.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "invoice_intake/extraction/fields/ocr_text.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/structured_values.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;
constexpr std::size_t kMaxItems = 500;
/// Cells of a row are at least this far apart, in heights of the line.
constexpr double kCellGap = 0.7;

enum Column : std::size_t { name, specification, unit, quantity, unit_price, amount, rate, tax };
constexpr std::size_t kColumns = 8;

/// Where each column's label is; missing ones are empty.
struct Head {
  std::array<double, kColumns> left{};
  std::array<double, kColumns> right{};
  std::array<bool, kColumns> known{};
  std::size_t line = 0;

  /// The column whose territory, up to half way to the next label, the middle of a cell is in.
  [[nodiscard]] std::size_t column_of(double from, double to) const {
    const double middle = (from + to) / 2;
    std::size_t last = kColumns;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (!known[i]) continue;
      if (last != kColumns && middle < (right[last] + left[i]) / 2) return last;
      last = i;
    }
    return last;
  }
};

struct Label {
  Column column;
  std::string_view text;
};
constexpr std::array<Label, 11> kHeadLabels{{{name, "项目名称"},
                                             {name, "服务名称"},
                                             {name, "货物或应税劳务"},
                                             {specification, "规格型号"},
                                             {unit, "单位"},
                                             {quantity, "数量"},
                                             {unit_price, "单价"},
                                             {amount, "金额"},
                                             {rate, "税率/征收率"},
                                             {rate, "税率"},
                                             {tax, "税额"}}};

std::optional<Head> find_head(const std::vector<PageLine>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PageLine& line = lines[i];
    Head head;
    head.line = i;
    for (const Label& label : kHeadLabels) {
      const std::size_t at = line.text().find(label.text);
      if (at == kNpos || head.known[label.column]) continue;
      head.known[label.column] = true;
      head.left[label.column] = line.glyphs()[line.glyph_at(at)].left;
      head.right[label.column] = line.glyphs()[line.glyph_at(at + label.text.size() - 1)].right;
    }
    if (head.known[amount] && head.known[tax] && (head.known[unit_price] || head.known[rate])) {
      return head;
    }
  }
  return std::nullopt;
}

using Row = std::array<std::string, kColumns>;

struct ReadRow {
  Row cells;
  std::array<double, kColumns> certainty;
};

ReadRow read_row(const PageLine& line, const Head& head) {
  ReadRow row;
  row.certainty.fill(1);
  const auto& glyphs = line.glyphs();
  for (std::size_t from = 0; from < glyphs.size();) {
    std::size_t to = from + 1;
    while (to < glyphs.size() && line.gap_before(to) < kCellGap) ++to;
    const std::size_t column = head.column_of(glyphs[from].left, glyphs[to - 1].right);
    std::string& cell = row.cells[column];
    if (!cell.empty()) cell += ' ';
    cell += line.text_of(from, to);
    row.certainty[column] = std::min(row.certainty[column], line.certainty_of(from, to));
    from = to;
  }
  return row;
}

bool is_sum_line(const PageLine& line) {
  const std::size_t at = line.text().find("合计");
  return at != kNpos && (at < 3 || line.text().compare(at - 3, 3, "税") != 0);
}

/// "***": no tax.
std::optional<Seen> sum_of(const ReadRow& row, Column column) {
  const std::string text = without_blanks(row.cells[column]);
  if (text.size() >= 2 && text.find_first_not_of('*') == kNpos) {
    return Seen{Money{}.to_string(), row.certainty[column]};
  }
  const auto money = printed_money(text);
  return money ? std::optional{Seen{money->to_string(), row.certainty[column]}} : std::nullopt;
}

LineItem item_of(const ReadRow& row, Source source) {
  const auto given = [](std::string value) {
    return value.empty() ? std::nullopt : std::optional{std::move(value)};
  };
  LineItem item;
  item.name = plain_text(row.cells[name]);
  item.specification = given(plain_text(row.cells[specification]));
  item.unit = given(plain_text(row.cells[unit]));
  item.quantity = given(decimal_text(row.cells[quantity]));
  item.unit_price = given(decimal_text(row.cells[unit_price]));
  if (const auto money = sum_of(row, amount)) item.amount = money->value;
  item.tax_rate = given(tax_rate_text(row.cells[rate]));
  if (const auto money = sum_of(row, tax)) item.tax = money->value;
  item.source = source;
  if (source == Source::ocr) {
    item.name = tidy_ocr(item.name);
    if (item.specification) item.specification = tidy_ocr(*item.specification);
  }
  item.confidence = *std::min_element(row.certainty.begin(), row.certainty.end());
  return item;
}

}  // namespace

bool is_money_part(std::string_view character) noexcept {
  return character == "¥" || character == "." || character == "," || character == "-" ||
         (character.size() == 1 && is_digit(character.front()));
}

std::optional<Money> printed_money(std::string_view text) {
  std::string plain = without_blanks(text);
  // OCR reads the sign as a letter or leaves a trace of it.
  for (const std::string_view sign : {"¥", "Y", "y"}) {
    if (const std::size_t at = plain.find(sign); at != kNpos && at <= 1)
      plain.erase(at, sign.size());
  }
  if (plain.size() < 4) return std::nullopt;
  char& point = plain[plain.size() - 3];
  if (point == ',') point = '.';
  if (point != '.') return std::nullopt;
  return Money::parse(plain);
}

GoodsTable read_goods_table(const std::vector<PageLine>& lines, double total_top, Source source) {
  GoodsTable table;
  const auto head = find_head(lines);
  if (!head) return table;
  for (std::size_t i = head->line + 1; i < lines.size(); ++i) {
    const PageLine& line = lines[i];
    if (total_top >= 0 && line.top() >= total_top) break;
    const ReadRow row = read_row(line, *head);
    // Lines of goods have no ¥: where OCR lost the words, the sign still tells the sums.
    if (is_sum_line(line) || row.cells[amount].find("¥") != std::string::npos) {
      table.amount = sum_of(row, amount);
      table.tax = sum_of(row, tax);
      break;
    }
    if (!sum_of(row, amount)) {
      // A name too long for its cell goes on below.
      if (!table.items.empty()) {
        LineItem& item = table.items.back();
        item.name += plain_text(row.cells[name]);
        if (!row.cells[specification].empty()) {
          item.specification =
              item.specification.value_or("") + plain_text(row.cells[specification]);
        }
      }
      continue;
    }
    if (table.items.size() < kMaxItems) table.items.push_back(item_of(row, source));
  }
  return table;
}

}  // namespace errand::invoices
