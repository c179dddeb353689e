#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace errand::detail {

/// What types lead to. A type that ends in `*` means all that begin so.
template <class Target>
using Routes = std::map<std::string, Target, std::less<>>;

/// Of the routes that fit, the longest; null if none does.
template <class Target>
[[nodiscard]] const Target* find_route(const Routes<Target>& routes, std::string_view type) {
  if (const auto exact = routes.find(type); exact != routes.end()) return &exact->second;
  for (std::size_t length = type.size() + 1; length-- > 0;) {
    const auto route = routes.find(std::string{type.substr(0, length)} + "*");
    if (route != routes.end()) return &route->second;
  }
  return nullptr;
}

}  // namespace errand::detail
