#pragma once

#include <iosfwd>
#include <string_view>

#include "terminal/screen.hpp"

namespace errand::terminal {

/// One line on a terminal that is written over and over, and gone when this is destroyed, or when
/// SIGINT or SIGTERM end the program. Does nothing where there is no terminal.
class LiveLine {
 public:
  LiveLine(std::ostream& err, const Screen& screen) : err_{err}, screen_{screen} {}
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  /// `text` must be printable.
  void show(std::string_view text);
  void clear();

 private:
  std::ostream& err_;
  const Screen& screen_;
  bool shown_ = false;
};

}  // namespace errand::terminal
