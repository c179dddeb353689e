#include "distributor_upgrade/criteria/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace errand::distributors {
namespace {

/// Letters to add, drop or replace.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view typed,
                                             const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 40;
  if (typed.size() > kLongest) return std::nullopt;
  // A third of the letters may be wrong; more than that is another word.
  std::size_t fewest = std::max<std::size_t>(1, typed.size() / 3) + 1;
  std::optional<std::string_view> best;
  for (const std::string_view name : names) {
    const std::size_t slips = slips_between(typed, name);
    if (slips < fewest) {
      fewest = slips;
      best = name;
    }
  }
  return best;
}

}  // namespace errand::distributors
