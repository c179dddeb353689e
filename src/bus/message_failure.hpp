#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "errand/exception_data.hpp"
#include "errand/export.hpp"
#include "errand/transport.hpp"

/// What is written in the place of a message whose handling failed, with the stamps by which both
/// sides know its story. Whether it is tried again at all is decided as for tasks: see
/// core/attempt.hpp. The body and all headers that are not named here stay as they are.
namespace errand::detail {

/// On its own transport, after `delay`: one more RedeliveryStamp, the DelayStamp, and what went
/// wrong. `id`: what the message is called there, noted unless it has an older name.
[[nodiscard]] ERRAND_EXPORT Outgoing retry_of(const WireMessage& message, std::string_view id,
                                              const ExceptionData& error,
                                              std::chrono::milliseconds delay, Timestamp now);

/// On the failure transport, from the transport called `from`, where it was called `id`.
[[nodiscard]] ERRAND_EXPORT Outgoing dead_letter_of(const WireMessage& message, std::string_view id,
                                                    const ExceptionData& error,
                                                    std::string_view from, Timestamp now);

/// From the failure transport back to where it came from: with all its attempts, and a story that
/// says only what went wrong.
[[nodiscard]] ERRAND_EXPORT Outgoing second_chance_of(const WireMessage& message);

/// The transport that a message in a failure transport came from; nullopt: nobody noted it.
[[nodiscard]] ERRAND_EXPORT std::optional<std::string> failed_in(const WireMessage& message);

/// What went wrong last, as far as it was noted by either side.
[[nodiscard]] ERRAND_EXPORT std::optional<ExceptionData> last_error(const WireMessage& message);

}  // namespace errand::detail
