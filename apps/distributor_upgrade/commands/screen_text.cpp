#include "distributor_upgrade/commands/screen_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cwchar>
#include <fmt/format.h>
#include <functional>
#include <sys/ioctl.h>
#include <unistd.h>

namespace errand::distributors {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Marks that change the direction of what follows.
bool reorders(wchar_t c) {
  return c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// Calls `use` with each character's bytes and its width; -1: not to be shown.
void for_each_character(std::string_view text,
                        const std::function<bool(std::string_view, int)>& use) {
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t c = 0;
    const std::size_t taken = std::mbrtowc(&c, text.data(), text.size(), &state);
    const bool read = taken > 0 && taken <= text.size();
    if (!read) state = {};
    const std::size_t bytes = read ? taken : 1;
    if (!use(text.substr(0, bytes), read && !reorders(c) ? ::wcwidth(c) : -1)) return;
    text.remove_prefix(bytes);
  }
}

}  // namespace

Screen Screen::of(int descriptor) {
  if (isatty(descriptor) == 0) return {};
  const bool dumb = environment("TERM").empty() || environment("TERM") == "dumb";
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {.is_terminal = !dumb,
          .colours = !dumb && environment("NO_COLOR").empty(),
          .width = known ? size.ws_col : std::size_t{80}};
}

std::string paint(std::string_view text, Colour colour, const Screen& screen) {
  if (!screen.colours || colour == Colour::none) return std::string{text};
  constexpr std::array<int, 6> kSgr{0, 1, 2, 31, 32, 33};
  return fmt::format("\x1b[{}m{}\x1b[0m", kSgr.at(static_cast<std::size_t>(colour)), text);
}

std::string printable(std::string_view text) {
  std::string shown;
  for_each_character(text, [&](std::string_view bytes, int width) {
    if (width >= 0) {
      shown += bytes;
    } else {
      for (const char byte : bytes) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    return true;
  });
  return shown;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_character(text, [&](std::string_view, int columns) {
    width += static_cast<std::size_t>(std::max(columns, 0));
    return true;
  });
  return width;
}

std::string truncate(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string{text};
  std::string cut;
  std::size_t used = 1;  // of the ellipsis
  for_each_character(text, [&](std::string_view bytes, int columns) {
    used += static_cast<std::size_t>(std::max(columns, 0));
    if (used > width) return false;
    cut += bytes;
    return true;
  });
  return cut + "…";
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace errand::distributors
