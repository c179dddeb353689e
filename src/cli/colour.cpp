#include "cli/colour.hpp"

#include <array>
#include <fmt/format.h>

namespace errand::cli {

std::string paint(std::string_view text, Colour colour, const Screen& screen) {
  if (!screen.colours || colour == Colour::none) return std::string{text};
  constexpr std::array<int, 9> kSgr{0, 1, 2, 31, 32, 33, 34, 35, 36};
  return fmt::format("\x1b[{}m{}\x1b[0m", kSgr.at(static_cast<std::size_t>(colour)), text);
}

Colour colour_of(TaskStatus status) noexcept {
  switch (status) {
    case TaskStatus::pending:
      return Colour::cyan;
    case TaskStatus::running:
      return Colour::blue;
    case TaskStatus::retrying:
      return Colour::yellow;
    case TaskStatus::completed:
      return Colour::green;
    case TaskStatus::failed:
      return Colour::red;
    case TaskStatus::cancelled:
      return Colour::magenta;
  }
  return Colour::none;
}

}  // namespace errand::cli
