#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace errand::detail {

/// What types lead to. A type that ends in `*` means all that begin so.
template <class Target>
using Routes = std::map<std::string, Target, std::less<>>;

/// Of the routes that fit one of the type's names, an exact one, else the longest; where two are
/// equally long, that of the earlier name. Null if none does.
template <class Target>
[[nodiscard]] const Target* find_route(const Routes<Target>& routes,
                                       const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) {
    if (const auto exact = routes.find(name); exact != routes.end()) return &exact->second;
    longest = std::max(longest, name.size());
  }
  for (std::size_t length = longest + 1; length-- > 0;) {
    for (const std::string& name : names) {
      if (length > name.size()) continue;
      const auto route = routes.find(name.substr(0, length) + "*");
      if (route != routes.end()) return &route->second;
    }
  }
  return nullptr;
}

}  // namespace errand::detail
