#include "terminal/live_line.hpp"

#include <ostream>

#include "terminal/display.hpp"

namespace errand::terminal {

void LiveLine::show(std::string_view text) {
  if (!screen_.is_terminal) return;
  err_ << '\r' << truncate(text, screen_.width - 1) << "\x1b[K" << std::flush;
  shown_ = true;
}

void LiveLine::clear() {
  if (!shown_) return;
  err_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace errand::terminal
