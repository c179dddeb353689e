#pragma once

#include <iosfwd>

#include "terminal/screen.hpp"

namespace errand::terminal {

/// Everything a command may read and write. Tests give their own streams.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  Screen out_screen;
  Screen err_screen;
};

}  // namespace errand::terminal
