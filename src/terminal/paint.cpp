#include "terminal/paint.hpp"

#include <array>
#include <fmt/format.h>

namespace errand::terminal {

std::string paint(std::string_view text, Colour colour, const Screen& screen) {
  if (!screen.colours || colour == Colour::none) return std::string{text};
  constexpr std::array<int, 9> kSgr{0, 1, 2, 31, 32, 33, 34, 35, 36};
  return fmt::format("\x1b[{}m{}\x1b[0m", kSgr.at(static_cast<std::size_t>(colour)), text);
}

}  // namespace errand::terminal
