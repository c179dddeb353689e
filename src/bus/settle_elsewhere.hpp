#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "errand/export.hpp"
#include "errand/timestamp.hpp"
#include "errand/transport.hpp"

namespace errand::detail {

/// Settles deliveries of `from` whose forwards go to another storage: written there first, ended
/// here after, so that a crash between the two doubles a message and never loses it. One status for
/// each, in order.
[[nodiscard]] ERRAND_EXPORT std::vector<MessageSettleStatus> settle_elsewhere(
    Transport& from, std::span<const MessageSettlement> settlements);

/// Settles deliveries of `from`, those that `is_here` says to be, or to be forwarded, in its own
/// storage by `settle_here`, the others by settle_elsewhere(). One status for each, in order.
/// Throws in_doubt where a part of them may be settled.
[[nodiscard]] ERRAND_EXPORT std::vector<MessageSettleStatus> settle_here_and_elsewhere(
    Transport& from, std::span<const MessageSettlement> settlements,
    const std::function<bool(const MessageSettlement&)>& is_here,
    const std::function<std::vector<MessageSettleStatus>(std::span<const MessageSettlement>)>&
        settle_here);

/// Moves a message of `from` whose forward goes to another storage; see Transport::move().
[[nodiscard]] ERRAND_EXPORT MoveStatus move_elsewhere(Transport& from, const std::string& id,
                                                      const MessageSettlement::Forward& forward,
                                                      Timestamp now);

}  // namespace errand::detail
