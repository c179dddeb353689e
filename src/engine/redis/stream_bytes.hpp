#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "errand/transport.hpp"

/// Messages as the bytes that Symfony's Redis transport writes.
namespace errand::redis {

/// JSON with `body` and `headers`, for the field `message` of a stream. With `uniqid` it is a
/// member of the sorted set of delayed messages.
[[nodiscard]] std::string write_message(const WireMessage& message,
                                        std::optional<std::string_view> uniqid = {});

/// Never throws: what is not of that form comes back whole as a body without headers, in base64 if
/// it is not UTF-8.
[[nodiscard]] WireMessage read_message(std::string_view bytes);

/// The text in a value that PHP's Redis extension has serialized: as PHP does (the default of
/// Symfony) or as igbinary does; other values are given back as they are.
[[nodiscard]] std::string_view without_php_serialization(std::string_view bytes);

/// Where a message stands in its stream: milliseconds and a number.
struct StreamId {
  std::int64_t milliseconds = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};
/// nullopt for what is none.
[[nodiscard]] std::optional<StreamId> parse_stream_id(std::string_view text);

}  // namespace errand::redis
