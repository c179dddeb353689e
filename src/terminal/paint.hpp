#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "terminal/screen.hpp"

namespace errand::terminal {

enum class Colour : std::uint8_t { none, bold, dim, red, green, yellow, blue, magenta, cyan };

/// `text` in that colour, where the screen has colours.
[[nodiscard]] std::string paint(std::string_view text, Colour colour, const Screen& screen);

}  // namespace errand::terminal
