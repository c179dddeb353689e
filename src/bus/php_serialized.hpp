#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "errand/export.hpp"

namespace errand::detail {

/// The class of the message in a body that PHP's own serializer wrote: an Envelope with slashes,
/// in base64 where it was not UTF-8. nullopt if the body is none. Never throws, whatever the bytes.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> php_message_class(std::string_view body);

/// Whether the body begins as such an envelope does, damaged or not: nothing of ours looks like it.
[[nodiscard]] ERRAND_EXPORT bool looks_php_serialized(std::string_view body);

}  // namespace errand::detail
