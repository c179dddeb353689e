#pragma once

#include <string>
#include <string_view>

namespace errand::terminal {

/// The same JSON over several lines, two spaces a level. Works on the text, so that numbers stay
/// as they were written; text that is not JSON comes out in some shape, but comes out.
[[nodiscard]] std::string indent_json(std::string_view json);

/// The same JSON on one line, without the white space between its parts. Works on the text, too.
[[nodiscard]] std::string compact_json(std::string_view json);

}  // namespace errand::terminal
