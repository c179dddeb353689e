#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "distributor_upgrade/commands/screen_text.hpp"

namespace errand::distributors {

struct Column {
  std::string title;
  bool right = false;    ///< numbers
  bool shrinks = false;  ///< its cells may be cut where the screen is too narrow
};

/// Aligned columns for people. Cells may be any text; the table makes it printable.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  /// One cell for each column.
  void add_row(std::vector<std::string> cells);

  void print(std::ostream& out, const Screen& screen) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace errand::distributors
