#pragma once

#include <span>
#include <vector>

#include "errand/export.hpp"
#include "errand/transport.hpp"

namespace errand::detail {

/// Settles deliveries of `from` whose forwards go to another storage: written there first, ended
/// here after, so that a crash between the two doubles a message and never loses it. One status for
/// each, in order.
[[nodiscard]] ERRAND_EXPORT std::vector<MessageSettleStatus> settle_elsewhere(
    Transport& from, std::span<const MessageSettlement> settlements);

}  // namespace errand::detail
