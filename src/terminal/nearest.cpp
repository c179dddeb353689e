#include "terminal/nearest.hpp"

#include <algorithm>
#include <vector>

namespace errand::terminal {
namespace {

/// Damerau-Levenshtein distance, each pair of letters swapped at most once.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> slips(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) slips[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) slips[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = slips[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      slips[i][j] = std::min({wrong, slips[i - 1][j] + 1, slips[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
      }
    }
  }
  return slips[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view typed, std::span<const std::string> words) {
  constexpr std::size_t kLongestWord = 40;
  if (typed.size() > kLongestWord) return std::nullopt;
  const std::string* best = nullptr;
  // A quarter of the letters may be wrong; more than that is another word.
  std::size_t fewest = std::max<std::size_t>(1, typed.size() / 4) + 1;
  for (const std::string& word : words) {
    const std::size_t slips = slips_between(typed, word);
    if (slips < fewest) {
      fewest = slips;
      best = &word;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace errand::terminal
