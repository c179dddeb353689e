#include "distributor_upgrade/commands/table.hpp"

#include <algorithm>
#include <ostream>

namespace errand::distributors {

void Table::add_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out, const Screen& screen) const {
  constexpr std::size_t kGap = 2;
  constexpr std::size_t kNarrowest = 8;
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
    total += width + (i > 0 ? kGap : 0);
  }
  for (std::size_t i = columns_.size(); i-- > 0 && screen.width > 0;) {
    if (!columns_[i].shrinks || total <= screen.width) continue;
    const std::size_t least = std::min(widths[i], kNarrowest);
    const std::size_t cut = std::min(total - screen.width, widths[i] - least);
    widths[i] -= cut;
    total -= cut;
  }
  const auto print_row = [&](const std::vector<std::string>& row, Colour colour) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      const std::string cell = truncate(row[i], widths[i]);
      const std::string padding(widths[i] - display_width(cell), ' ');
      line += columns_[i].right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << paint(line, colour, screen) << '\n';
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  print_row(titles, Colour::bold);
  for (const auto& row : rows_) print_row(row, Colour::none);
}

}  // namespace errand::distributors
