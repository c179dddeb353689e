#pragma once

#include "http/failed_choice.hpp"
#include "http/query.hpp"
#include "http/routes.hpp"

/// What the routes below /api/failed do for messages: kind=message. In failed_message_routes.cpp.
namespace errand::http {

[[nodiscard]] Response list_failed_messages(const Call& call, const Query& query);
[[nodiscard]] Response group_failed_messages(const Call& call, const Query& query);
[[nodiscard]] Response get_failed_message(const Call& call, const Query& query);
[[nodiscard]] Response delete_failed_message(const Call& call, const Query& query);
[[nodiscard]] Response retry_failed_message(const Call& call, const Query& query);
[[nodiscard]] Response retry_failed_messages(const Call& call, const FailedChoice& choice);
[[nodiscard]] Response remove_failed_messages(const Call& call, const FailedChoice& choice);

}  // namespace errand::http
