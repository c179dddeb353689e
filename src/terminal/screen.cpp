#include "terminal/screen.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace errand::terminal {
namespace {

constexpr std::size_t kUsualWidth = 80;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int columns = std::atoi(std::string{environment("COLUMNS")}.c_str());
  return columns > 0 ? static_cast<std::size_t>(columns) : kUsualWidth;
}

}  // namespace

Screen Screen::of(int descriptor) {
  if (isatty(descriptor) == 0) return {};
  // A dumb terminal understands neither colours nor moving the cursor: treat it as a file, but for
  // its width.
  const bool dumb = environment("TERM").empty() || environment("TERM") == "dumb";
  return {.is_terminal = !dumb,
          .colours = !dumb && environment("NO_COLOR").empty(),
          .width = terminal_width(descriptor)};
}

}  // namespace errand::terminal
