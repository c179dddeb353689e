#pragma once

#include <string>
#include <string_view>

#include "errand/envelope.hpp"
#include "errand/export.hpp"
#include "errand/task_queue.hpp"

#include "bus/symfony_serializer.hpp"

/// A task that another program recorded and then sent over a transport:
/// `{"taskId": "<uuid>", "payload": {…}}`.
namespace errand::detail {

/// Whether messages of this type are such tasks: a class `AsyncTaskMessage`, of whatever namespace.
[[nodiscard]] ERRAND_EXPORT bool is_async_task(std::string_view type);

/// The task in it, without queue and retry policy. The type of its message is named by
/// `payloadClass` beside the payload, else by `type` in it. Throws UnreadableMessage.
[[nodiscard]] ERRAND_EXPORT NewTask read_async_task(const Envelope& envelope,
                                                    const SymfonySerializer& serializer);

}  // namespace errand::detail
