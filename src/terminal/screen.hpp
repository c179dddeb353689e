#pragma once

#include <cstddef>

namespace errand::terminal {

/// What stands behind a stream: a person at a terminal, or another program.
struct Screen {
  bool is_terminal = false;
  bool colours = false;
  std::size_t width = 0;  ///< columns; 0: no limit

  /// Looks at the descriptor and at TERM, NO_COLOR and COLUMNS.
  [[nodiscard]] static Screen of(int descriptor);
};

}  // namespace errand::terminal
