#include "terminal/progress_bar.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "terminal/display.hpp"
#include "terminal/wording.hpp"

namespace errand::terminal {

std::string format_progress(const Progress& progress) {
  constexpr int kCells = 20;
  std::string text;
  if (progress.total > 0) {
    const double share = std::clamp(
        static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
    const int full = static_cast<int>(share * kCells);
    for (int i = 0; i < kCells; ++i) text += i < full ? "█" : "░";
    text += fmt::format(" {} % · {} of {}", static_cast<int>(share * 100),
                        format_count(progress.done), format_count(progress.total));
  } else {
    text = format_count(progress.done) + " done";
  }
  if (!progress.note.empty()) text += " · " + printable(progress.note);
  return text;
}

}  // namespace errand::terminal
