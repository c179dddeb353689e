#pragma once

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <optional>

#include "http/problem.hpp"
#include "http/request.hpp"

/// From Beast's messages to ours.
namespace errand::http {

using MessageHeader = boost::beast::http::header<true, boost::beast::http::fields>;

/// Without body and role. The views are into `header`. Throws Problem.
[[nodiscard]] Request request_of(const MessageHeader& header);

/// What to tell a client whose bytes are not HTTP, or are too many; nullopt: nothing, it has gone,
/// or was too slow and has been cut off.
[[nodiscard]] std::optional<Problem> problem_of_bytes(const boost::system::error_code& error);

}  // namespace errand::http
