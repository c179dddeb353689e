#pragma once

#include <string_view>

#include "terminal/console.hpp"

namespace errand::terminal {

/// Prints a JSON text as a line. On a terminal, what could act on the terminal is escaped; the
/// JSON means the same.
void print_json(Console& console, std::string_view json);

}  // namespace errand::terminal
