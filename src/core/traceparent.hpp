#pragma once

#include <string_view>

#include "errand/envelope.hpp"
#include "errand/export.hpp"

/// The W3C trace context: which request, in whatever program, a task comes from.
namespace errand::detail {

/// The header of a message that carries it, named as HTTP names it.
inline constexpr std::string_view kTraceparent = "traceparent";

/// Version 00, `00-TRACE-PARENT-FLAGS` in lower-case digits, neither id all zeros; and the same
/// beginning in later versions.
[[nodiscard]] ERRAND_EXPORT bool is_traceparent(std::string_view text) noexcept;

/// The 32 digits of the trace that the message belongs to; empty: to none.
[[nodiscard]] ERRAND_EXPORT std::string_view trace_id(const Headers& headers) noexcept;

}  // namespace errand::detail
