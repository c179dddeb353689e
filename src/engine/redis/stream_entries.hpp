#pragma once

#include <string_view>

#include "errand/timestamp.hpp"
#include "errand/transport.hpp"

#include "engine/redis/reply.hpp"

/// What the server tells of messages, read.
namespace errand::redis {

/// `fields`: of an entry of a stream.
[[nodiscard]] WireMessage message_in(const Value& fields);

/// When the entry was written.
[[nodiscard]] Timestamp time_in(std::string_view stream_id);

/// A row of scripts/stream_list.lua: an entry of the stream, or a delayed message.
[[nodiscard]] StoredMessage stored_message_in(const Value& row, Timestamp now);

}  // namespace errand::redis
