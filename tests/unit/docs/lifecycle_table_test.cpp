#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "errand/task_status.hpp"

#include "unit/docs/document.hpp"

namespace errand::testing {
namespace {

/// From, Event, To, Who.
using Row = std::array<std::string, 4>;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string{text.substr(begin, text.find_last_not_of(' ') - begin + 1)};
}

Row cells_of(const std::string& line) {
  std::istringstream cells{line.substr(1)};
  Row row;
  for (std::string& cell : row) {
    std::getline(cells, cell, '|');
    cell = trimmed(cell);
  }
  return row;
}

std::vector<Row> documented_transitions() {
  std::istringstream document{read_document("docs/lifecycle.md")};
  std::vector<Row> rows;
  std::string line;
  while (std::getline(document, line) && line != "| From | Event | To | Who |") {
  }
  std::getline(document, line);  // the rule below the head
  while (std::getline(document, line) && line.starts_with('|')) rows.push_back(cells_of(line));
  return rows;
}

std::string arrow(std::string_view from, std::string_view event, std::string_view to) {
  return std::string{from} + " --" + std::string{event} + "--> " + std::string{to};
}

TEST(LifecycleDocument, HasTheTransitionsOfTheCodeInTheirOrder) {
  std::vector<std::string> documented;
  for (const Row& row : documented_transitions()) {
    documented.push_back(arrow(row[0], row[1], row[2]));
  }
  std::vector<std::string> coded;
  for (const Transition& row : kTransitions) {
    coded.push_back(arrow(to_string(row.from), to_string(row.event), to_string(row.to)));
  }
  EXPECT_THAT(documented, ::testing::ElementsAreArray(coded));
}

TEST(LifecycleDocument, SaysWhoMakesEachTransition) {
  const std::vector<Row> rows = documented_transitions();
  EXPECT_FALSE(rows.empty());
  for (const Row& row : rows) EXPECT_NE(row[3], "") << arrow(row[0], row[1], row[2]);
}

}  // namespace
}  // namespace errand::testing
