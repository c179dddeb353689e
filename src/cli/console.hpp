#pragma once

#include <cstddef>
#include <iosfwd>

namespace errand::cli {

/// What stands behind a stream: a person at a terminal, or another program.
struct Screen {
  bool is_terminal = false;
  bool colours = false;
  std::size_t width = 0;  ///< columns; 0: no limit

  /// Looks at the descriptor and at TERM, NO_COLOR and COLUMNS.
  [[nodiscard]] static Screen of(int descriptor);
};

/// Everything a command may read and write. Tests give their own streams.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  Screen out_screen;
  Screen err_screen;
};

}  // namespace errand::cli
