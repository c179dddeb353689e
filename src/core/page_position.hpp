#pragma once

#include <cstdint>
#include <limits>

#include "errand/errors.hpp"
#include "errand/task_catalog.hpp"

/// The arithmetic of pages, for all engines: no page number or size makes it overflow.
namespace errand::detail {

inline void validate(const PageRequest& request) {
  if (request.page < 1 || request.page_size < 1) {
    throw ValidationException{"pages and page sizes count from 1"};
  }
}

/// How many to ask for: one more than the page has tells whether there is another page.
[[nodiscard]] constexpr std::int64_t one_more(std::int64_t page_size) noexcept {
  return page_size == std::numeric_limits<std::int64_t>::max() ? page_size : page_size + 1;
}

/// How many items come before the page.
[[nodiscard]] constexpr std::int64_t passed_over(const PageRequest& request) noexcept {
  if (request.after) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (request.page - 1 > kMost / request.page_size) return kMost;
  return (request.page - 1) * request.page_size;
}

}  // namespace errand::detail
