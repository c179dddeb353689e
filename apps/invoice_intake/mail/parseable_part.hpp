#pragma once

#include <cstddef>
#include <string_view>

namespace errand::invoices {

/// What a parser of messages may cost: it keeps an object of a hundred bytes and more for each
/// header and each part, so that a line of six bytes becomes many times its size in memory.
struct ParseLimits {
  std::size_t lines = 10'000;                   ///< that may be headers or boundaries
  std::size_t header = std::size_t{256} << 10;  ///< bytes of one header, with its continuations
  std::size_t headers = std::size_t{2} << 20;   ///< bytes of all of them
};

/// The beginning of a message, up to where it goes beyond a limit: all of it if it is honest. Looks
/// at the lines alone and keeps nothing of them.
[[nodiscard]] std::string_view parseable_part(std::string_view message,
                                              const ParseLimits& limits = {}) noexcept;

}  // namespace errand::invoices
