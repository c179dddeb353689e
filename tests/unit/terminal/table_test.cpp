#include "terminal/table.hpp"

#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace errand::terminal {
namespace {

std::string shown(const Table& table, const Screen& screen = {}) {
  std::ostringstream out;
  table.print(out, screen);
  return out.str();
}

TEST(Table, ColumnsAreAlignedAndLinesHaveNoTrailingSpaces) {
  Table table{
      {{.title = "NAME"}, {.title = "N", .align = Column::Align::right}, {.title = "LAST"}}};
  table.add_row({"a", "1", "x"});
  table.add_row({"longer", "1,000", ""});
  EXPECT_EQ(shown(table),
            "NAME        N  LAST\n"
            "a           1  x\n"
            "longer  1,000\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
  Table table{{{.title = "A"}, {.title = "B"}}};
  table.add_row({"任务", "x"});
  table.add_row({"abcd", "y"});
  EXPECT_EQ(shown(table),
            "A     B\n"
            "任务  x\n"
            "abcd  y\n");
}

TEST(Table, WhereTheScreenIsTooNarrowTheWidestColumnsThatMayShrinkAreCut) {
  Table table{{{.title = "ID"}, {.title = "TEXT", .may_shrink = true}}};
  table.add_row({"0123456789", "a text that is rather long"});
  EXPECT_EQ(shown(table, {.width = 24}),
            "ID          TEXT\n"
            "0123456789  a text that…\n");
}

TEST(Table, ColumnsStayReadableHoweverNarrowTheScreenIs) {
  Table table{{{.title = "ID"}, {.title = "TEXT", .may_shrink = true}}};
  table.add_row({"0123456789", "abcdefghij"});
  EXPECT_EQ(shown(table, {.width = 5}),
            "ID          TEXT\n"
            "0123456789  abcde…\n");
}

TEST(Table, ColumnsThatMayGoAreLeftOutBeforeTheOthersBecomeHardToRead) {
  Table table{{{.title = "ID"},
               {.title = "TEXT", .may_shrink = true},
               {.title = "MORE", .may_drop = true},
               {.title = "N"}}};
  table.add_row({"0123456789", "a text that is rather long", "0123456789", "7"});
  EXPECT_EQ(shown(table, {.width = 40}),
            "ID          TEXT                       N\n"
            "0123456789  a text that is rather lo…  7\n");
  EXPECT_EQ(shown(table, {.width = 45}),
            "ID          TEXT                MORE        N\n"
            "0123456789  a text that is ra…  0123456789  7\n");
}

TEST(Table, UserDataCannotActOnTheTerminal) {
  Table table{{{.title = "A"}, {.title = "B"}}};
  table.add_row({"\x1b[2J", "x\ny"});
  EXPECT_EQ(shown(table),
            "A        B\n"
            "\\x1b[2J  x\\ny\n");
}

TEST(Table, ColoursAreOnlyForScreensThatHaveThem) {
  Table table{{{.title = "A"}}};
  table.add_row({{"x", Colour::red}});
  EXPECT_EQ(shown(table), "A\nx\n");
  EXPECT_EQ(shown(table, {.is_terminal = true, .colours = true, .width = 80}),
            "\x1b[1mA\x1b[0m\n\x1b[31mx\x1b[0m\n");
}

TEST(Table, ColoursDoNotCountAsColumns) {
  Table table{{{.title = "A"}, {.title = "B"}}};
  table.add_row({{"x", Colour::red}, "y"});
  table.add_row({"xyz", "y"});
  EXPECT_EQ(shown(table, {.is_terminal = true, .colours = true, .width = 80}),
            "\x1b[1mA\x1b[0m    \x1b[1mB\x1b[0m\n"
            "\x1b[31mx\x1b[0m    y\n"
            "xyz  y\n");
}

}  // namespace
}  // namespace errand::terminal
