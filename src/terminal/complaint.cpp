#include "terminal/complaint.hpp"

#include <fmt/ostream.h>

#include "terminal/display.hpp"

namespace errand::terminal {

void complain(Console& console, std::string_view program, std::string_view sentence) {
  fmt::print(console.err, "{}: {}\n", program, printable(sentence));
}

void complain_in_lines(Console& console, std::string_view program, std::string_view text) {
  complain(console, program, text.substr(0, text.find('\n')));
  while (text.find('\n') != std::string_view::npos) {
    text.remove_prefix(text.find('\n') + 1);
    fmt::print(console.err, "{}\n", printable(text.substr(0, text.find('\n'))));
  }
}

}  // namespace errand::terminal
