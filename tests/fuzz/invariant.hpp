#pragma once

#include <stdexcept>
#include <string>

namespace errand::fuzz {

/// Not an errand::Error, so that no target takes it for one.
class InvariantBroken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& invariant) {
  if (!holds) throw InvariantBroken{"must hold: " + invariant};
}

}  // namespace errand::fuzz
