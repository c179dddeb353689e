#include "terminal/table.hpp"

#include <algorithm>
#include <cassert>
#include <ostream>

#include "terminal/display.hpp"

namespace errand::terminal {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 6;
constexpr std::size_t kReadable = 16;

using Widths = std::vector<std::optional<std::size_t>>;

std::size_t total_width(const Widths& widths) {
  std::size_t total = 0;
  for (const auto& width : widths) {
    if (width) total += *width + (total > 0 ? kGap : 0);
  }
  return total;
}

/// As total_width(), with the columns that may shrink as narrow as one still likes to read them.
std::size_t readable_width(Widths widths, const std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] && columns[i].may_shrink) widths[i] = std::min(*widths[i], kReadable);
  }
  return total_width(widths);
}

std::string padded(const Cell& cell, const Column& column, std::size_t width,
                   const Screen& screen) {
  const std::string text = truncate(cell.text, width);
  const std::string padding(width - display_width(text), ' ');
  const std::string painted = text.empty() ? text : paint(text, cell.colour, screen);
  return column.align == Column::Align::right ? padding + painted : painted + padding;
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::optional<std::size_t>> Table::widths_on(const Screen& screen) const {
  Widths widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.emplace_back(width);
  }
  if (screen.width == 0) return widths;

  for (std::size_t i = columns_.size(); i-- > 0;) {
    if (readable_width(widths, columns_) <= screen.width) break;
    if (columns_[i].may_drop) widths[i].reset();
  }
  for (std::size_t total = total_width(widths); total > screen.width; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_shrink || widths[i].value_or(0) <= kNarrowest) continue;
      if (widest == nullptr || *widths[i] > *widest) widest = &*widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

void Table::print(std::ostream& out, const Screen& screen) const {
  const Widths widths = widths_on(screen);
  const auto print_row = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!widths[i]) continue;
      if (!line.empty()) line.append(kGap, ' ');
      line += padded(row[i], columns_[i], *widths[i], screen);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };

  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Colour::bold);
  print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace errand::terminal
