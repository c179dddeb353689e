#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terminal/paint.hpp"
#include "terminal/screen.hpp"

namespace errand::terminal {

struct Column {
  enum class Align : std::uint8_t { left, right };
  std::string title;
  Align align = Align::left;
  bool may_shrink = false;  ///< its cells may be cut where the screen is too narrow
  bool may_drop = false;    ///< it may be left out where the others would become hard to read
};

struct Cell {
  Cell(std::string cell_text, Colour cell_colour = Colour::none)  // NOLINT: a text is a cell
      : text{std::move(cell_text)}, colour{cell_colour} {}
  Cell(const char* cell_text) : text{cell_text} {}  // NOLINT: a text is a cell

  std::string text;  ///< as the user gave it; the table makes it printable
  Colour colour = Colour::none;
};

/// Aligned columns for people.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  /// One cell for each column.
  void add_row(std::vector<Cell> cells);

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  void print(std::ostream& out, const Screen& screen) const;

 private:
  /// The width of each column; none for those that are left out.
  [[nodiscard]] std::vector<std::optional<std::size_t>> widths_on(const Screen& screen) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace errand::terminal
