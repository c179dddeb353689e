#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <termios.h>

namespace errand::terminal {

/// The terminal as a picture that is drawn again and again, from construction to destruction; then
/// it shows what it showed before. One at a time.
class FullScreen {
 public:
  explicit FullScreen(std::ostream& out);
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  /// Draws the lines of `picture`, as many as there is room for.
  void draw(std::string_view picture);

  enum class Event : std::uint8_t { none, quit, resized };

  /// Waits up to `timeout` for q, Ctrl-C, a signal that ends the program, or another window size.
  [[nodiscard]] Event wait(std::chrono::milliseconds timeout);

 private:
  std::ostream& out_;
  bool reads_keys_ = false;
  termios before_{};
};

}  // namespace errand::terminal
