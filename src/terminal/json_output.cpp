#include "terminal/json_output.hpp"

#include <ostream>

#include "terminal/display.hpp"

namespace errand::terminal {

void print_json(Console& console, std::string_view json) {
  if (console.out_screen.is_terminal) {
    console.out << printable_json(json) << '\n';
  } else {
    console.out << json << '\n';
  }
}

}  // namespace errand::terminal
