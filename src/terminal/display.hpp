#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// User data on its way to a person's terminal.
namespace errand::terminal {

/// `text` with everything escaped that could move the cursor, change colours or reorder what is
/// read: control characters, direction overrides, bytes that are not UTF-8. One line: a line feed
/// becomes `\n`.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for JSON, as JSON that means the same: line feeds and tabs stay, control characters
/// become \u escapes.
[[nodiscard]] std::string printable_json(std::string_view json);

/// The columns printable text takes: CJK characters and emoji two, combining marks none.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Printable text cut to `width` columns, the last of them `…` if something was cut.
[[nodiscard]] std::string truncate(std::string_view text, std::size_t width);

/// The longest that a message is printed on one line, where nobody asked for all of it: whoever
/// reads it wants to know what it is about.
inline constexpr std::size_t kLongestMessage = 200;

}  // namespace errand::terminal
