#pragma once

#include <chrono>

#include "errand/errors.hpp"

namespace errand::detail {

/// Between two tries of what the storage did not do: each is twice the one before.
inline constexpr std::chrono::milliseconds kFirstPauseAfterError{100};
inline constexpr std::chrono::milliseconds kLongestPauseAfterError{5000};

[[nodiscard]] inline bool is_useless(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageException*>(&error);
  return storage != nullptr && storage->retry() == StorageException::Retry::useless;
}

[[nodiscard]] inline bool is_in_doubt(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageException*>(&error);
  return storage != nullptr && storage->retry() == StorageException::Retry::in_doubt;
}

}  // namespace errand::detail
