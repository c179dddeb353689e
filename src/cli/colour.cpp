#include "cli/colour.hpp"

namespace errand::cli {

terminal::Colour colour_of(TaskStatus status) noexcept {
  using terminal::Colour;
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
