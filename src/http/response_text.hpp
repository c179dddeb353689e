#pragma once

#include <string>
#include <string_view>

#include "http/request.hpp"
#include "http/response.hpp"

namespace errand::http {

enum class Connection : bool { close, keep_alive };

/// Status line and headers, up to the empty line: the response's own, and those that every answer
/// has so that a browser does nothing with it but show it.
[[nodiscard]] std::string header_text(const Response& response, Connection connection);

/// The same for a stream of events: it ends with the connection.
[[nodiscard]] std::string event_stream_header();

}  // namespace errand::http
