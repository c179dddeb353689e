#pragma once

#include <chrono>
#include <thread>

#include "support/milestone.hpp"

namespace errand::testing {

/// Looks until `holds()` does: for states that only the storage shows. False: it never did.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

}  // namespace errand::testing
