#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace errand::distributors {

/// What stands behind a stream: a person at a terminal, or another program.
struct Screen {
  bool is_terminal = false;
  bool colours = false;
  std::size_t width = 0;  ///< columns; 0: no limit

  /// Looks at the descriptor and at TERM and NO_COLOR.
  [[nodiscard]] static Screen of(int descriptor);
};

enum class Colour { none, bold, dim, red, green, yellow };

[[nodiscard]] std::string paint(std::string_view text, Colour colour, const Screen& screen);

/// One line, with everything escaped that could move the cursor, change colours or reorder what is
/// read: names come from anybody.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns that printable text takes: CJK characters two. Needs the locale C.UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Printable text cut to `width` columns, the last of them `…` if something was cut.
[[nodiscard]] std::string truncate(std::string_view text, std::size_t width);

/// `1,234,567`
[[nodiscard]] std::string format_count(std::int64_t count);

}  // namespace errand::distributors
