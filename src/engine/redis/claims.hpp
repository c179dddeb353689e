#pragma once

#include <optional>
#include <string_view>

#include "errand/task_queue.hpp"

namespace errand::redis {

/// A task that was claimed, out of its entry. `payload`: where the entry does not have it.
/// `bundled`: the claim has left the entry as it was before.
[[nodiscard]] Claim read_claim(TaskId id, std::string_view entry,
                               std::optional<std::string_view> payload, bool bundled);

}  // namespace errand::redis
