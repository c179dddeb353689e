#include "distributor_upgrade/model/name.hpp"

#include <algorithm>

#include "errand/errors.hpp"

namespace errand::distributors {

void check_name(std::string_view name, const std::string& what) {
  constexpr std::size_t kLongest = 100;
  if (name.find_first_not_of(' ') == std::string_view::npos) {
    throw ValidationException{what + " is empty"};
  }
  if (name.size() > kLongest) {
    throw ValidationException{what + " has " + std::to_string(name.size()) + " bytes; " +
                              std::to_string(kLongest) + " are the most"};
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (std::ranges::any_of(name, is_control)) {
    throw ValidationException{what + " has control characters"};
  }
}

}  // namespace errand::distributors
