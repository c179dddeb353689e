#pragma once

#include <cstdint>
#include <string>

namespace errand {

/// How far a running task has come, in units of its own.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: unknown
  std::string note{};

  friend bool operator==(const Progress&, const Progress&) = default;
};

}  // namespace errand
