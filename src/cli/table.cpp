#include "cli/table.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <ostream>

#include "cli/display.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 6;

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

std::vector<std::size_t> Table::widths_on(const Screen& screen) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  if (screen.width == 0) return widths;

  std::size_t total = std::accumulate(widths.begin(), widths.end(), (widths.size() - 1) * kGap);
  for (; total > screen.width; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_shrink || widths[i] <= kNarrowest) continue;
      if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

void Table::print(std::ostream& out, const Screen& screen) const {
  const std::vector<std::size_t> widths = widths_on(screen);
  const auto print_row = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      line += padded(row[i], columns_[i], widths[i], screen);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };

  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Colour::bold);
  print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace errand::cli
