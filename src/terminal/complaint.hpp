#pragma once

#include <string_view>

#include "terminal/console.hpp"

namespace errand::terminal {

/// Says on `console.err` what went wrong: `PROGRAM: SENTENCE`, in one line.
void complain(Console& console, std::string_view program, std::string_view sentence);

/// The same for a text of our own that goes on in more lines, such as the right forms of a DSN.
void complain_in_lines(Console& console, std::string_view program, std::string_view text);

}  // namespace errand::terminal
